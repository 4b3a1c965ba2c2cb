/*
 * The order of clips that draws every class equally often, whatever their sizes. With K classes
 * that have clips, samples [r K, r K + K) are round r: one clip of each class, the classes in
 * another order every round. A class of n clips goes through them in n rounds, then again in
 * another order: so each of its clips is drawn once in n K samples.
 *
 * Computed and not stored, as trainer/data/order.h: any sample is known at once, on any rank, after
 * any restart. What is kept is which clips each class has, as runs of neighbours.
 */
#ifndef SLIPWAY_TRAINER_DATA_ORDER_CLASSES_H
#define SLIPWAY_TRAINER_DATA_ORDER_CLASSES_H

#include <stddef.h>
#include <stdint.h>

struct order_classes; /* opaque; only read after it is made */

/* Asks for every clip's label once. n_clips > 0. */
struct order_classes *order_classes_new(uint64_t n_clips,
                                        uint32_t (*label)(const void *ctx, uint64_t clip),
                                        const void *ctx);
void order_classes_free(struct order_classes *c);

/* Classes that have clips. */
size_t order_classes_n(const struct order_classes *c);
/* The clip for sample number `sample`. */
uint64_t order_classes_clip(const struct order_classes *c, uint64_t seed, uint64_t sample);

#endif
