/*
 * MPI without its headers. The two families of libraries differ in what a handle is: a pointer to
 * an exported object in Open MPI, an int in MPICH (MPICH ABI Compatibility Initiative: also Intel
 * MPI and MVAPICH). Both travel in a pointer-sized argument, which the calling conventions of amd64
 * and arm64 pass in a register of which the callee reads what it needs. The constants are facts of
 * the two published ABIs, stable since Open MPI 1.x and MPICH 3.1.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/comm/engine.h"

enum { MPI_SERIALIZED = 2, HOST_MAX = 256, MPI_NAME_MAX = 1024 };

typedef void *mpi_handle;

struct mpi_calls {
	int (*init)(int *argc, char ***argv, int required, int *provided);
	int (*initialized)(int *flag);
	int (*finalize)(void);
	int (*abort)(mpi_handle comm, int code);
	int (*comm_rank)(mpi_handle comm, int *rank);
	int (*comm_size)(mpi_handle comm, int *size);
	int (*set_errhandler)(mpi_handle comm, mpi_handle handler);
	int (*iallreduce)(const void *in, void *out, int n, mpi_handle type, mpi_handle op,
	                  mpi_handle comm, void *request);
	int (*ibcast)(void *bytes, int n, mpi_handle type, int root, mpi_handle comm,
	              void *request);
	int (*ibarrier)(mpi_handle comm, void *request);
	int (*test)(void *request, int *flag, void *status);
	int (*allgather)(const void *in, int n_in, mpi_handle in_type, void *out, int n_out,
	                 mpi_handle out_type, mpi_handle comm);
	int (*processor_name)(char *name, int *len);
};

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{"MPI_Init_thread", offsetof(struct mpi_calls, init)},
	{"MPI_Initialized", offsetof(struct mpi_calls, initialized)},
	{"MPI_Finalize", offsetof(struct mpi_calls, finalize)},
	{"MPI_Abort", offsetof(struct mpi_calls, abort)},
	{"MPI_Comm_rank", offsetof(struct mpi_calls, comm_rank)},
	{"MPI_Comm_size", offsetof(struct mpi_calls, comm_size)},
	{"MPI_Comm_set_errhandler", offsetof(struct mpi_calls, set_errhandler)},
	{"MPI_Iallreduce", offsetof(struct mpi_calls, iallreduce)},
	{"MPI_Ibcast", offsetof(struct mpi_calls, ibcast)},
	{"MPI_Ibarrier", offsetof(struct mpi_calls, ibarrier)},
	{"MPI_Test", offsetof(struct mpi_calls, test)},
	{"MPI_Allgather", offsetof(struct mpi_calls, allgather)},
	{"MPI_Get_processor_name", offsetof(struct mpi_calls, processor_name)},
};

struct mpi {
	struct mpi_calls call;
	mpi_handle world, types[3], ops[2], errors_return;
	void *in_place, *status_ignore;
	int rank, size, threads;
	char *hosts; /* [size][HOST_MAX] */
};

static mpi_handle int_handle(uintptr_t value)
{
	return (mpi_handle)value; /* NOLINT(performance-no-int-to-ptr): MPICH's handles are ints */
}

/* Constants of MPICH's mpi.h. */
static void bind_mpich(struct mpi *m)
{
	m->world = int_handle(0x44000000);
	m->types[COMM_F32] = int_handle(0x4c00040a);
	m->types[COMM_F64] = int_handle(0x4c00080b);
	m->types[COMM_BYTE] = int_handle(0x4c00010d);
	m->ops[COMM_SUM] = int_handle(0x58000003);
	m->ops[COMM_MAX] = int_handle(0x58000001);
	m->errors_return = int_handle(0x54000001);
	m->in_place = int_handle((uintptr_t)-1);
	m->status_ignore = (void *)1;
}

/* Open MPI exports its handles. */
static bool bind_open_mpi(struct mpi *m, void *lib)
{
	static const char *const types[] = {"ompi_mpi_float", "ompi_mpi_double", "ompi_mpi_byte"};

	m->world = dlsym(lib, "ompi_mpi_comm_world");
	if (m->world == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		m->types[i] = dlsym(lib, types[i]);
	m->ops[COMM_SUM] = dlsym(lib, "ompi_mpi_op_sum");
	m->ops[COMM_MAX] = dlsym(lib, "ompi_mpi_op_max");
	m->errors_return = dlsym(lib, "ompi_mpi_errors_return");
	m->in_place = (void *)1;
	m->status_ignore = NULL;
	return true;
}

static int mpi_reduce(void *state, void *values, size_t n, enum comm_type type, enum comm_op op,
                      struct comm_request *ret)
{
	struct mpi *m = state;

	return m->call.iallreduce(m->in_place, values, (int)n, m->types[type], m->ops[op], m->world,
	                          &ret->handle);
}

static int mpi_broadcast(void *state, void *bytes, size_t n, struct comm_request *ret)
{
	struct mpi *m = state;

	return m->call.ibcast(bytes, (int)n, m->types[COMM_BYTE], 0, m->world, &ret->handle);
}

static int mpi_barrier(void *state, struct comm_request *ret)
{
	struct mpi *m = state;

	return m->call.ibarrier(m->world, &ret->handle);
}

static int mpi_test(void *state, struct comm_request *r, bool *ret_done)
{
	struct mpi *m = state;
	int flag = 0, rc = m->call.test(&r->handle, &flag, m->status_ignore);

	*ret_done = flag != 0;
	return rc;
}

static void mpi_host(void *state, unsigned rank, char *out, size_t size)
{
	struct mpi *m = state;

	snprintf(out, size, "%.255s", m->hosts + (size_t)rank * HOST_MAX);
}

/* The library stays loaded: it has exit handlers. */
static void mpi_free(struct mpi *m)
{
	free(m->hosts);
	free(m);
}

static void mpi_close(void *state)
{
	struct mpi *m = state;

	m->call.finalize();
	mpi_free(m);
}

static void mpi_abort(void *state, int status)
{
	struct mpi *m = state;

	/* The watch may still name ranks: the process ends, and with it what m holds. */
	m->call.abort(m->world, status);
}

static void *load(const char *library, bool mpich_first, struct err *err)
{
	static const char *const names[2][4] = {
		{"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"},
		{"libmpich.so.12", "libmpi.so.12", "libmpi.so.40", "libmpi.so"}};
	void *lib = NULL;

	/* Open MPI's plugins look its symbols up globally. */
	if (library != NULL)
		lib = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	for (size_t i = 0; i < ARRAY_LEN(names[0]) && library == NULL && lib == NULL; i++)
		lib = dlopen(names[mpich_first][i], RTLD_NOW | RTLD_GLOBAL);
	if (lib == NULL) {
		err_set(err, ERR_NOT_FOUND, "no MPI library could be loaded (%s)",
		        library != NULL ? library : "libmpi.so.40, libmpich.so.12, libmpi.so");
		err_hint(err,
		         "Install Debian's libopenmpi3 or libmpich12 in the image, or name the "
		         "library with --mpi_library.");
	}
	return lib;
}

static int bind_calls(struct mpi *m, void *lib, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		if (symbol == NULL)
			return err_set(err, ERR_UNSUPPORTED, "the MPI library does not export %s",
			               symbols[i].name);
		memcpy((char *)&m->call + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

/* Every rank learns every rank's node, to be able to name it later. */
static int exchange_hosts(struct mpi *m)
{
	char mine[MPI_NAME_MAX] = "";
	int len = 0;

	m->hosts = mem_calloc((size_t)m->size, HOST_MAX);
	if (m->call.processor_name(mine, &len) != 0)
		return -1;
	mine[HOST_MAX - 1] = '\0';
	return m->call.allgather(mine, HOST_MAX, m->types[COMM_BYTE], m->hosts, HOST_MAX,
	                         m->types[COMM_BYTE], m->world);
}

static int start_mpi(struct mpi *m, struct err *err)
{
	if (m->call.init(NULL, NULL, MPI_SERIALIZED, &m->threads) != 0)
		return err_set(err, ERR_SERVER, "MPI did not start");
	m->call.set_errhandler(m->world, m->errors_return);
	if (m->call.comm_rank(m->world, &m->rank) != 0 ||
	    m->call.comm_size(m->world, &m->size) != 0 || m->size < 1 || exchange_hosts(m) != 0)
		return err_set(err, ERR_SERVER,
		               "MPI did not report this process's rank or the number of ranks");
	return 0;
}

int comm_mpi_load(const char *library, bool mpich_first, struct comm_mpi *ret, struct err *err)
{
	void *lib = load(library, mpich_first, err);
	struct mpi *m;
	bool open_mpi;

	if (lib == NULL)
		return -1;
	m = mem_zalloc(sizeof(*m));
	open_mpi = bind_open_mpi(m, lib);
	if (!open_mpi)
		bind_mpich(m);
	if (bind_calls(m, lib, err) != 0) {
		mpi_free(m);
		return -1;
	}
	*ret = (struct comm_mpi){m, !open_mpi};
	return 0;
}

int comm_mpi_start(const struct comm_mpi *mpi, struct comm_engine *ret, struct err *err)
{
	struct mpi *m = mpi->state;

	if (start_mpi(m, err) != 0) {
		mpi_free(m);
		return -1;
	}
	*ret = (struct comm_engine){.name = mpi->mpich ? "MPICH" : "Open MPI",
	                            .state = m,
	                            .rank = (unsigned)m->rank,
	                            .size = (unsigned)m->size,
	                            .any_thread = m->threads >= MPI_SERIALIZED,
	                            .all_reduce = mpi_reduce,
	                            .broadcast = mpi_broadcast,
	                            .barrier = mpi_barrier,
	                            .test = mpi_test,
	                            .host = mpi_host,
	                            .close = mpi_close,
	                            .abort = mpi_abort};
	return 0;
}
