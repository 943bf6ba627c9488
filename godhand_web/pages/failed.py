"""The answer when a page could not be made. It asks nothing of the database, which may be what failed."""

from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.template.loader import render_to_string

from sandboxes.ids import new_id


def server_error(request: HttpRequest) -> HttpResponse:
    number = new_id()
    response = HttpResponseServerError(render_to_string("500.html", {"number": number}))
    # Django writes the reason into the line of the log that has the traceback.
    response.reason_phrase = f"Internal Server Error {number}"
    return response
