rsvg-convert -w 1280 -h 800 -o /usr/share/godhand/wallpaper.png /usr/share/godhand/wallpaper.svg
glib-compile-schemas /usr/share/glib-2.0/schemas
gtk-update-icon-cache --quiet --force /usr/share/icons/Yaru
fc-cache --system-only --force
install -d -m 0700 -o agent -g agent /run/user/1000
# D-Bus wants one; a machine gets its own at start.
printf '%s\n' 6f0d4a6e642d68616e642d696d616765 > /etc/machine-id
ln -sf /etc/machine-id /var/lib/dbus/machine-id
rm -rf /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/*.log /var/log/fontconfig.log
