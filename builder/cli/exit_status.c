#include "builder/cli/exit_status.h"

#include "base/attr.h"

const struct exit_status_row exit_statuses[] = {
	[EXIT_OK] = {"ok", "success"},
	[EXIT_FAILED] = {"failed", "something failed; `diff --exit-code` and `deploy --diff`: "
                                   "there are differences; `version --check`: there is a newer "
                                   "release"},
	[EXIT_USAGE] = {"usage", "wrong options or arguments"},
	[EXIT_REFUSED] = {"refused", "the spec is invalid, or a check did not pass"},
	[EXIT_DENIED] = {"denied", "the server refused: credentials or permission"},
	[EXIT_NETWORK] = {"network", "network trouble, worth a retry"},
	[EXIT_CAPACITY] = {"capacity", "no target of the fleet has capacity for the job"},
	[EXIT_BUSY] = {"busy", "another deploy or undeploy of the fleet is running"},
	[EXIT_JOB] = {"job", "the job failed"},
	[EXIT_WAITING] = {"waiting", "`status`: something is deployed, but the job does not run "
                                     "yet"},
	[EXIT_ABSENT] = {"absent", "`status`: nothing is deployed"},
	[EXIT_UNKNOWN] = {"unknown", "`deploy --diff`: any other failure, because 1 means "
                                     "differences"},
};
_Static_assert(ARRAY_LEN(exit_statuses) == EXIT_STATUSES, "exit_statuses: one row per status");

enum exit_status exit_status_of(const struct err *err)
{
	switch (err->code) {
	case ERR_NONE:
		return EXIT_OK;
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_SPEC:
	case ERR_CHECK:
		return EXIT_REFUSED;
	case ERR_DENIED:
		return EXIT_DENIED;
	case ERR_NETWORK:
		return EXIT_NETWORK;
	case ERR_CAPACITY:
		return EXIT_CAPACITY;
	case ERR_BUSY:
		return EXIT_BUSY;
	case ERR_JOB:
		return EXIT_JOB;
	case ERR_IO:
	case ERR_FORMAT:
	case ERR_DIGEST:
	case ERR_LIMIT:
	case ERR_NOT_FOUND:
	case ERR_CONFLICT:
	case ERR_SERVER:
	case ERR_UNSUPPORTED:
	case ERR_MEMORY:
	case ERR_MACHINE:
	case ERR_INTERRUPTED:
		return EXIT_FAILED;
	}
	BUG("error code %d", (int)err->code);
}
