sed -i -e '/sheet/s/=.*/=libreoffice-calc.desktop/' -e '/ms-excel/s/=.*/=libreoffice-calc.desktop/' /etc/xdg/mimeapps.list
cat >> /etc/xdg/mimeapps.list <<'LIST'
application/msword=libreoffice-writer.desktop
application/rtf=libreoffice-writer.desktop
application/vnd.ms-powerpoint=libreoffice-impress.desktop
application/vnd.oasis.opendocument.presentation=libreoffice-impress.desktop
application/vnd.oasis.opendocument.text=libreoffice-writer.desktop
application/vnd.openxmlformats-officedocument.presentationml.presentation=libreoffice-impress.desktop
application/vnd.openxmlformats-officedocument.wordprocessingml.document=libreoffice-writer.desktop
LIST
sed -i '/org.gnumeric.gnumeric.desktop/d' /etc/xdg/tint2/tint2rc
for app in writer calc impress; do
    sed -i "/^time1_format/i launcher_item_app = libreoffice-$app.desktop" /etc/xdg/tint2/tint2rc
    printf 'Yaru\tlibreoffice-%s\t26=/usr/share/icons/Yaru/32x32/apps/libreoffice-%s.png\n' $app $app \
        >> /home/agent/.cache/tint2/icon.cache
done
