"""Teams: who sees what of whom. A team shows what its members own, so nobody is in one without having agreed."""

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ..access import admin_or_404, is_admin, managed_team_or_404, may_manage_team, team_or_404, visible_teams
from ..forms import printable
from ..models import Membership, Role, Team, User

WORDS = {
    Role.VIEWER: "sees what the others own",
    Role.OPERATOR: "also drives and changes it",
    Role.ADMIN: "also takes control by force, and manages the team",
}


class NewTeam(forms.Form):
    name = forms.CharField(max_length=60, validators=[printable], error_messages={"required": "Give the team a name."})

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Team.objects.filter(name__iexact=name).exists():
            raise forms.ValidationError("There is a team of that name already.")
        return name


class NewMember(forms.Form):
    person = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=Role.choices)

    def clean_person(self) -> User:
        name: str = self.cleaned_data["person"]
        person = User.objects.filter(username__iexact=name, is_active=True).first()
        if person is None:
            raise forms.ValidationError(f"There is nobody called {name} here.")
        return person


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    form = NewTeam(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        admin_or_404(request.user)
        if form.is_valid():
            return redirect("team", Team.objects.create(name=form.cleaned_data["name"]).pk)
    counted = Count("memberships", filter=Q(memberships__agreed=True))
    mine = Membership.objects.filter(person=request.user).select_related("team")
    context = {
        "form": form,
        "may_make": is_admin(request.user),
        "asked": [membership for membership in mine if not membership.agreed],
        "roles": {membership.team_id: membership.role for membership in mine if membership.agreed},
        "words": WORDS,
        "teams": Team.objects.filter(pk__in=visible_teams(request.user)).annotate(size=counted),
    }
    return render(request, "teams/index.html", context, status=400 if form.errors else 200)


@require_safe
def show(request: HttpRequest, team_id: int) -> HttpResponse:
    return _page(request, team_or_404(request.user, team_id))


def _page(request: HttpRequest, team: Team, form: NewMember | None = None) -> HttpResponse:
    manages = may_manage_team(request.user, team)
    members = team.memberships.select_related("person")
    context = {
        "team": team,
        "form": form,
        "manages": manages,
        "at_once": is_admin(request.user),
        "members": members if manages else members.filter(agreed=True),
        "mine": members.filter(person=request.user.pk, agreed=True).first(),
        "roles": [(role, role.label, WORDS[role]) for role in Role],
    }
    return render(request, "teams/team.html", context, status=400 if form else 200)


@require_POST
def add(request: HttpRequest, team_id: int) -> HttpResponse:
    """Whoever an administrator of the installation names is in; whom the team's own names is asked."""
    team = managed_team_or_404(request.user, team_id)
    form = NewMember(request.POST)
    if not form.is_valid():
        return _page(request, team, form)
    person, role = form.cleaned_data["person"], form.cleaned_data["role"]
    agreed = is_admin(request.user)
    _, is_new = Membership.objects.get_or_create(team=team, person=person, defaults={"role": role, "agreed": agreed})
    if not is_new:
        messages.info(request, f"{person} is in {team} already, or has been asked.")
    elif agreed:
        messages.success(request, f"{person} is in {team} now.")
    else:
        messages.success(request, f"{person} is asked, and is in {team} once they agree.")
    return redirect("team", team.pk)


@require_POST
def change(request: HttpRequest, team_id: int, person_id: int) -> HttpResponse:
    team = managed_team_or_404(request.user, team_id)
    membership = team.memberships.filter(person=person_id).select_related("person").first()
    if membership is None:
        raise Http404
    role = request.POST.get("role", "")
    if "remove" in request.POST:
        membership.delete()
        messages.success(request, f"{membership.person} is not in {team} any more.")
    elif role in Role.values:
        Membership.objects.filter(pk=membership.pk).update(role=role)
        messages.success(request, f"{membership.person} is {Role(role).label.lower()} in {team} now.")
    else:
        messages.error(request, "Choose one of the roles.")
    return redirect("team", team.pk) if team_stays(request, team) else redirect("teams")


def team_stays(request: HttpRequest, team: Team) -> bool:
    """Whoever took themselves out does not see it any more."""
    mine = team.memberships.filter(person=request.user.pk, agreed=True)
    return is_admin(request.user) or mine.exists()


@require_POST
def join(request: HttpRequest, team_id: int) -> HttpResponse:
    if not Membership.objects.filter(team=team_id, person=request.user.pk).update(agreed=True):
        raise Http404
    return redirect("team", team_id)


@require_POST
def leave(request: HttpRequest, team_id: int) -> HttpResponse:
    """Also the answer of somebody who was asked and would rather not."""
    if not Membership.objects.filter(team=team_id, person=request.user.pk).delete()[0]:
        raise Http404
    messages.success(request, "What you own is not shown there any more.")
    return redirect("teams")


@require_POST
def delete(request: HttpRequest, team_id: int) -> HttpResponse:
    """Nothing that anybody owns goes with it."""
    admin_or_404(request.user)
    team = team_or_404(request.user, team_id)
    team.delete()
    messages.success(request, f"There is no team {team} any more. Everybody keeps what they own.")
    return redirect("teams")
