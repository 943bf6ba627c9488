import agents.needed
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0005_schedules'),
        ('sandboxes', '0004_lease'),
    ]

    operations = [
        migrations.AddField(
            model_name='branch',
            name='allowed',
            field=models.BooleanField(null=True),
        ),
        migrations.AddField(
            model_name='branch',
            name='asks_for',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='plan',
            field=models.JSONField(default=dict),
        ),
        migrations.AlterField(
            model_name='branch',
            name='snapshot',
            field=models.ForeignKey(null=True, on_delete=agents.needed.kept_while_needed, related_name='branches', to='sandboxes.snapshot'),
        ),
    ]
