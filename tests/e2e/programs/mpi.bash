# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="mpich libmpich-dev libc6-dev"

# sum_of_ranks: the program, by the headers and the library that lie in the folders INCLUDE and LIBRARY of the root;
# %s stands for the architecture's name in them.
sum_of_ranks() {
	local triplet=x86_64-linux-gnu
	[[ $arch == amd64 ]] || triplet=aarch64-linux-gnu
	cat >app.c <<-'END'
		#include <mpi.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			int rank, size, sum = 0;
			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &size);
			rank += 20;
			MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
			if (rank == 20)
				printf("%d ranks: %d\n", size, sum);
			return MPI_Finalize();
		}
	END
	compile "build/$arch/app" app.c -I"roots/$arch/usr/${INCLUDE/\%s/$triplet}" "roots/$arch/usr/${LIBRARY/\%s/$triplet}"
}

INCLUDE=include/%s/mpich
LIBRARY=lib/%s/libmpich.so
prepare() { sum_of_ranks; }

work() {
	[ "$(run_image -launcher fork -n 2 /usr/bin/app)" = "2 ranks: 41" ]
}
