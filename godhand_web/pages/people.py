"""Everybody's account, for the installation's administrators: invite, role, quotas, deactivate."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from .. import audit, quotas, sessions
from ..access import admin_or_404, person_or_404
from ..addresses import for_others
from ..models import INVITE_LIFETIME, LoginLink, Role, Team, User

PER_PAGE = 50
WORDS = {
    Role.VIEWER: "Looks at what their teams do, and makes nothing",
    Role.OPERATOR: "Makes machines and tasks of their own",
    Role.ADMIN: "Sees and does everything, and manages people",
}


class Invite(forms.Form):
    name = forms.CharField(
        max_length=150,
        validators=[UnicodeUsernameValidator(message="Use letters, digits and @ . + - _ only.")],
        error_messages={"required": "Say by which name they will log in."},
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.OPERATOR)
    team = forms.ModelChoiceField(Team.objects.all(), required=False)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(f"There is somebody called {name} already.")
        return name


class Account(forms.Form):
    """A quota that is left empty is the installation's own."""

    role = forms.ChoiceField(choices=Role.choices)
    machines = forms.IntegerField(label="Machines at once", required=False, min_value=0, max_value=10_000)
    tasks = forms.IntegerField(label="Tasks at once", required=False, min_value=0, max_value=10_000)
    disk = forms.FloatField(required=False, min_value=0, max_value=1_000_000, label="Disk")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    admin_or_404(request.user)
    form = Invite(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        person = invited(form)
        audit.about(request, "person", str(person.pk))
        return _page(request, person, link_for(request, person))
    found = User.objects.filter(username__icontains=request.GET.get("q", "")).order_by("-is_active", "username")
    context = {
        "form": form,
        "roles": [(role, role.label, WORDS[role]) for role in Role],
        "teams": Team.objects.all(),
        "q": request.GET.get("q", ""),
        "page": Paginator(found.prefetch_related("memberships__team"), PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "people/index.html", context, status=400 if form.errors else 200)


def invited(form: Invite) -> User:
    person = User(username=form.cleaned_data["name"])
    person.role = form.cleaned_data["role"]
    person.set_unusable_password()
    person.save()
    if form.cleaned_data["team"]:
        person.memberships.create(team=form.cleaned_data["team"], role=Role.OPERATOR, agreed=True)
    return person


def link_for(request: HttpRequest, person: User) -> str:
    """Lets them in once, to where they choose how they will come in from then on."""
    path = reverse("login_link", args=[LoginLink.issue(person, INVITE_LIFETIME)])
    return for_others(request, f"{path}?next={reverse('security')}")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest, person_id: int) -> HttpResponse:
    person = person_or_404(request.user, person_id)
    if request.method != "POST":
        return _page(request, person)
    form = Account(request.POST)
    if not form.is_valid():
        return _page(request, person, form=form)
    refusal = trouble(request, person, form)
    if refusal:
        messages.error(request, refusal)
    else:
        keep(person, form)
        messages.success(request, f"Saved for {person.get_username()}.")
    return redirect("person", person.pk)


def trouble(request: HttpRequest, person: User, form: Account) -> str:
    """Somebody must be left who can undo it."""
    if person == request.user and form.cleaned_data["role"] != Role.ADMIN:
        return "You cannot take your own role away; another administrator can."
    return ""


def keep(person: User, form: Account) -> None:
    person.role = form.cleaned_data["role"]
    person.most_machines, person.most_tasks = form.cleaned_data["machines"], form.cleaned_data["tasks"]
    disk = form.cleaned_data["disk"]
    person.most_disk = None if disk is None else int(disk * quotas.GIGABYTE)
    person.save(update_fields=["is_staff", "only_looks", "most_machines", "most_tasks", "most_disk"])


@never_cache
@require_POST
def new_link(request: HttpRequest, person_id: int) -> HttpResponse:
    person = person_or_404(request.user, person_id)
    if not person.is_active:
        messages.error(request, f"{person.get_username()} is deactivated; activate the account first.")
        return redirect("person", person.pk)
    return _page(request, person, link_for(request, person))


@require_POST
def activate(request: HttpRequest, person_id: int) -> HttpResponse:
    """Or the contrary: out everywhere, at once. What they own stays."""
    person = person_or_404(request.user, person_id)
    inside = request.POST.get("active") == "yes"
    if person == request.user:
        messages.error(request, "You cannot deactivate yourself; another administrator can.")
        return redirect("person", person.pk)
    User.objects.filter(pk=person.pk).update(is_active=inside)
    if inside:
        messages.success(request, f"{person.get_username()} may log in again.")
    else:
        LoginLink.objects.filter(user=person).delete()
        sessions.end_all(person)
        messages.success(request, f"{person.get_username()} is logged out everywhere and cannot log in.")
    return redirect("person", person.pk)


def _page(request: HttpRequest, person: User, link: str = "", form: Account | None = None) -> HttpResponse:
    used = (quotas.machines_of(person), quotas.tasks_of(person), quotas.disk_of(person))
    context: dict[str, Any] = {
        "person": person,
        "form": form,
        "link": link,
        "lifetime": INVITE_LIFETIME.days,
        "roles": [(role, role.label, WORDS[role]) for role in Role],
        "said": form.data if form else said_of(person),
        "quotas": used,
        "memberships": person.memberships.select_related("team").filter(agreed=True),
        "is_me": person == request.user,
    }
    return render(request, "people/person.html", context, status=400 if form else 200)


def said_of(person: User) -> dict[str, str]:
    disk = "" if person.most_disk is None else f"{person.most_disk / quotas.GIGABYTE:g}"
    shown = {"machines": person.most_machines, "tasks": person.most_tasks}
    return {
        "role": person.role,
        "disk": disk,
        **{name: "" if most is None else str(most) for name, most in shown.items()},
    }
