/* gVisor has no packet mode (TIOCPKT) for pseudo-terminals, and VTE gives up without it: no shell in the
 * window. Loaded into a VTE terminal, this says yes to packet mode and puts the header byte "data follows"
 * in front of what is read. The terminal's children do not inherit it. */
typedef long ssize_t;
typedef unsigned long size_t;
extern void *dlsym(void *handle, const char *name);
extern int unsetenv(const char *name);

#define NEXT ((void *)-1L)
#define TIOCPKT 0x5420
#define FDS 4096

static char packets[FDS];

int ioctl(int fd, unsigned long request, void *argument)
{
    int (*real)(int, unsigned long, void *) = dlsym(NEXT, "ioctl");
    int result = real(fd, request, argument);
    if (request == TIOCPKT && result != 0 && fd >= 0 && fd < FDS) {
        packets[fd] = *(int *)argument != 0;
        unsetenv("LD_PRELOAD");
        return 0;
    }
    return result;
}

ssize_t read(int fd, void *buffer, size_t size)
{
    ssize_t (*real)(int, void *, size_t) = dlsym(NEXT, "read");
    if (fd < 0 || fd >= FDS || !packets[fd] || size < 2)
        return real(fd, buffer, size);
    ssize_t got = real(fd, (char *)buffer + 1, size - 1);
    if (got <= 0)
        return got;
    *(char *)buffer = 0;
    return got + 1;
}

ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room) { return read(fd, buffer, size < room ? size : room); }

int close(int fd)
{
    int (*real)(int) = dlsym(NEXT, "close");
    if (fd >= 0 && fd < FDS)
        packets[fd] = 0;
    return real(fd);
}
