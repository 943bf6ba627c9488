from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0006_approval'),
    ]

    operations = [
        migrations.AddField(
            model_name='takeover',
            name='private',
            field=models.BooleanField(default=True),
        ),
    ]
