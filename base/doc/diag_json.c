#include "base/doc/diag_json.h"

void diags_json(const struct diags *d, cJSON *array)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct diag *diag = &d->at[i];
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "severity", diag_severity_name(diag->severity));
		if (diag->at.file != NULL) {
			json_add_string(obj, "file", diag->at.file);
			json_add_int(obj, "line", diag->at.line);
			json_add_int(obj, "column", diag->at.column);
		}
		json_add_string(obj, "rule", diag->rule);
		json_add_string(obj, "message", diag->message);
		json_add_string(obj, "hint", diag->hint);
		json_push(array, obj);
	}
}
