import django.utils.timezone
import sandboxes.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sandboxes', '0006_limits'),
    ]

    operations = [
        migrations.CreateModel(
            name='Spare',
            fields=[
                ('id', models.CharField(default=sandboxes.ids.new_id, editable=False, max_length=12, primary_key=True, serialize=False)),
                ('backend', models.CharField(max_length=20)),
                ('image', models.CharField(max_length=40)),
                ('image_digest', models.CharField(max_length=64)),
                ('host', models.CharField(max_length=100)),
                ('handle', models.JSONField(blank=True, default=dict)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ('made_at',),
            },
        ),
    ]
