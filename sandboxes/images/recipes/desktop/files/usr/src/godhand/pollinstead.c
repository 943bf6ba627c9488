/* epoll by way of poll, for Xvnc. When a machine is woken from a snapshot that was taken while somebody watched, gVisor
 * goes on reporting the broken connection after it was removed, and Xvnc calls what it has freed. poll keeps nothing. */
#define PLACES 1024
#define INSTANCES 4
#define ADD 1
#define REMOVE 2
#define WATCHED 0x2007
#define INVALID 0x20
#define CLOSE_ON_EXEC 02000000

enum { NO_ENTRY = 2, BAD_DESCRIPTOR = 9, EXISTS = 17, NO_INSTANCE = 24, NO_PLACE = 28 };

struct pollfd { int fd; short events, revents; };

#ifdef __x86_64__
struct __attribute__((packed)) event { unsigned events; unsigned long long data; };
#else
struct event { unsigned events; unsigned long long data; };
#endif

struct instance {
    int descriptor, used;
    struct pollfd watched[PLACES];
    unsigned long long data[PLACES];
};

extern int eventfd(unsigned value, int flags);
extern int poll(struct pollfd *watched, unsigned long count, int timeout);
extern int *__errno_location(void);

static struct instance instances[INSTANCES];

static int refuse(int number)
{
    *__errno_location() = number;
    return -1;
}

static struct instance *find(int descriptor)
{
    for (int i = 0; i < INSTANCES; i++)
        if (instances[i].descriptor == descriptor)
            return &instances[i];
    return 0;
}

/* A descriptor of which nothing is asked is kept as its complement, which poll ignores. */
static int place_of(struct instance *self, int fd)
{
    for (int i = 0; i < self->used; i++)
        if (self->watched[i].fd == fd || self->watched[i].fd == ~fd)
            return i;
    return -1;
}

static void forget(struct instance *self, int place)
{
    self->used--;
    self->watched[place] = self->watched[self->used];
    self->data[place] = self->data[self->used];
}

int epoll_create1(int flags)
{
    struct instance *self = find(0);
    int descriptor = self ? eventfd(0, flags & CLOSE_ON_EXEC) : refuse(NO_INSTANCE);
    if (descriptor > 0) {
        self->descriptor = descriptor;
        self->used = 0;
    }
    return descriptor;
}

int epoll_create(int size)
{
    return epoll_create1(0);
}

int epoll_ctl(int descriptor, int verb, int fd, struct event *event)
{
    struct instance *self = find(descriptor);
    if (!self)
        return refuse(BAD_DESCRIPTOR);
    int place = place_of(self, fd);
    if (verb == ADD && place >= 0)
        return refuse(EXISTS);
    if (verb != ADD && place < 0)
        return refuse(NO_ENTRY);
    if (verb == REMOVE) {
        forget(self, place);
        return 0;
    }
    if (place < 0 && self->used == PLACES)
        return refuse(NO_PLACE);
    if (place < 0)
        place = self->used++;
    short asked = event->events & WATCHED;
    self->watched[place].fd = asked ? fd : ~fd;
    self->watched[place].events = asked;
    self->watched[place].revents = 0;
    self->data[place] = event->data;
    return 0;
}

int epoll_wait(int descriptor, struct event *events, int most, int timeout)
{
    struct instance *self = find(descriptor);
    if (!self)
        return refuse(BAD_DESCRIPTOR);
    int ready = poll(self->watched, self->used, timeout), told = 0;
    if (ready <= 0)
        return ready;
    for (int i = self->used - 1; i >= 0 && told < most; i--) {
        if (self->watched[i].fd < 0 || !self->watched[i].revents)
            continue;
        if (self->watched[i].revents & INVALID) {
            forget(self, i);
            continue;
        }
        events[told].events = (unsigned short)self->watched[i].revents;
        events[told++].data = self->data[i];
    }
    return told;
}
