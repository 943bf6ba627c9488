/* gVisor takes the last descriptor of close_range() for a signed number, so "all the rest" (~0U) is refused,
 * and whatever GLib starts, such as a key binding's program, is not started. */
extern long syscall(long number, ...);

#define CLOSE_RANGE 436
#define LAST 0x7fffffffU

int close_range(unsigned first, unsigned last, int flags)
{
    return (int)syscall(CLOSE_RANGE, first, last > LAST ? LAST : last, flags);
}
