/*
 * The XML that AWS's older services answer with, as a flat map from element path to text. Parsed by
 * expat; a document type, entities or processing tricks are refused.
 */
#ifndef SLIPWAY_BUILDER_AWS_XML_H
#define SLIPWAY_BUILDER_AWS_XML_H

#include "base/err.h"
#include "base/strmap.h"

enum { XML_DEPTH_MAX = 16, XML_ELEMENTS_MAX = 1000 };

/*
 * Element paths without the root and without name spaces ("AssumeRoleResult/Credentials/
 * AccessKeyId") to their text, trimmed; of equal paths the first counts. ERR_FORMAT when it is not
 * well-formed XML, ERR_LIMIT beyond the caps.
 */
int xml_flatten(const char *text, size_t len, struct arena *a, struct strmap *ret_map,
                struct err *err) MUST_USE;

#endif
