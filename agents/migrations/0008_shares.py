from django.db import migrations, models

SHARED = ('tokens', 'money')


def part(apps, schema_editor):
    """Limits that a fork had shared out stood among those that a person had given."""
    branches = apps.get_model('agents', 'Branch').objects
    for branch in branches.exclude(limits={}).iterator():
        if all(name in branch.limits for name in SHARED):
            share = {name: branch.limits[name] for name in SHARED}
            own = {name: value for name, value in branch.limits.items() if name not in SHARED}
            branches.filter(pk=branch.pk).update(share=share, limits=own)


def join(apps, schema_editor):
    branches = apps.get_model('agents', 'Branch').objects
    for branch in branches.exclude(share={}).iterator():
        branches.filter(pk=branch.pk).update(limits={**branch.limits, **branch.share})


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0007_private'),
    ]

    operations = [
        migrations.AddField(
            model_name='branch',
            name='share',
            field=models.JSONField(default=dict),
        ),
        migrations.RunPython(part, join),
    ]
