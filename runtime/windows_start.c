/* Where Windows starts a program that is linked with its own C library alone. */
#include <corecrt_startup.h>
#include <stdlib.h>

int main(int count, char **arguments);

/* `main` calls it first, for constructors of C++. */
void __main(void) {}

void mainCRTStartup(void) {
    _configure_narrow_argv(_crt_argv_unexpanded_arguments);
    exit(main(*__p___argc(), *__p___argv()));
}
