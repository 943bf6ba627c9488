"""A person's yes or no to what no fork undoes."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from agents import approval

from ..access import changeable_run_or_404
from .task_verbs import LONGEST_NOTE, back_to, first_branch, first_error


class Answer(forms.Form):
    word = forms.ChoiceField(choices=[("allow", "Allow it"), ("refuse", "Do not allow it")])
    text = forms.CharField(max_length=LONGEST_NOTE, required=False)


@require_POST
def answer(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    """Of the branch that the page showed."""
    run = changeable_run_or_404(request.user, task_id, run_id)
    form, branch = Answer(request.POST), first_branch(run, request.GET.get("branch", ""))
    if not form.is_valid():
        messages.error(request, first_error(form))
        return back_to(run, branch)
    allow = form.cleaned_data["word"] == "allow"
    if approval.answer(branch, request.user, allow=allow, word=form.cleaned_data["text"]):
        messages.success(request, "Allowed. The run goes on." if allow else "Refused. The run goes on without it.")
    else:
        messages.info(request, "Nobody asks for that any more.")
    return back_to(run, branch)
