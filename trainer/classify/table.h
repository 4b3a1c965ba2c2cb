/*
 * The result as CSV (fields as in RFC 4180, lines that end as Unix has them), a video a line, by
 * path:
 *
 *   path,class,probability,class_2,probability_2, ... class_5,probability_5,clips,error
 *
 * class to class_5 are the five most probable classes (fewer where there are fewer), probabilities
 * have six decimals; a video without clips has its reason in the last column and nothing before.
 */
#ifndef SLIPWAY_TRAINER_CLASSIFY_TABLE_H
#define SLIPWAY_TRAINER_CLASSIFY_TABLE_H

#include "trainer/classify/classify.h"

/* Appends the table; results[i] belong to list->at[i]. Labels without a name are LABEL_7. */
void classify_table(const struct dataset_list *list, const struct classified *results,
                    const struct class_list *classes, struct strbuf *sb);

/* A field as RFC 4180 has it: in quotes when it holds a comma, a quote or a line's end. */
void csv_field_add(struct strbuf *sb, const char *text);

#endif
