"""Addresses of accounts. Those that allauth asks for by name have allauth's names."""

from allauth.account.views import PasswordChangeView, PasswordSetView, ReauthenticateView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCode
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import LoginWebAuthnView, ReauthenticateWebAuthnView, RemoveWebAuthnView
from django.urls import path

from .pages import audit, people, security, session, teams

password = "security/password.html"
confirm = "security/confirm.html"

urlpatterns = [
    path("login/", session.Login.as_view(), name="account_login"),
    path("login/step/", session.SecondStep.as_view(), name="mfa_authenticate"),
    path("login/passkey/", LoginWebAuthnView.as_view(), name="mfa_login_webauthn"),
    path("settings/security/", security.index, name="security"),
    path("settings/security/", security.index, name="mfa_index"),
    path("settings/security/", security.index, name="mfa_list_webauthn"),
    path(
        "settings/security/password/",
        PasswordChangeView.as_view(template_name=password, success_url="/settings/security/"),
        name="account_change_password",
    ),
    path(
        "settings/security/password/new/",
        PasswordSetView.as_view(template_name=password, success_url="/settings/security/"),
        name="account_set_password",
    ),
    path(
        "settings/security/confirm/", ReauthenticateView.as_view(template_name=confirm), name="account_reauthenticate"
    ),
    path(
        "settings/security/confirm/code/",
        ReauthenticateByCode.as_view(template_name=confirm),
        name="mfa_reauthenticate",
    ),
    path(
        "settings/security/confirm/passkey/",
        ReauthenticateWebAuthnView.as_view(template_name=confirm),
        name="mfa_reauthenticate_webauthn",
    ),
    path(
        "settings/security/app/", ActivateTOTPView.as_view(template_name="security/app.html"), name="mfa_activate_totp"
    ),
    path(
        "settings/security/app/remove/",
        DeactivateTOTPView.as_view(template_name="security/remove_app.html"),
        name="mfa_deactivate_totp",
    ),
    path(
        "settings/security/codes/",
        ViewRecoveryCodesView.as_view(template_name="security/codes.html"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "settings/security/codes/new/",
        GenerateRecoveryCodesView.as_view(template_name="security/new_codes.html"),
        name="mfa_generate_recovery_codes",
    ),
    path("settings/security/passkeys/new/", security.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "settings/security/passkeys/<int:pk>/remove/",
        RemoveWebAuthnView.as_view(template_name="security/remove_passkey.html"),
        name="mfa_remove_webauthn",
    ),
    path("settings/security/sessions/end/", security.end_others, name="end_sessions"),
    path("settings/security/sessions/<int:session_id>/end/", security.end, name="end_session"),
    path("settings/people/", people.index, name="people"),
    path("settings/people/<int:person_id>/", people.show, name="person"),
    path("settings/people/<int:person_id>/link/", people.new_link, name="person_link"),
    path("settings/people/<int:person_id>/active/", people.activate, name="person_active"),
    path("settings/teams/", teams.index, name="teams"),
    path("settings/teams/<int:team_id>/", teams.show, name="team"),
    path("settings/teams/<int:team_id>/members/", teams.add, name="add_member"),
    path("settings/teams/<int:team_id>/members/<int:person_id>/", teams.change, name="team_member"),
    path("settings/teams/<int:team_id>/join/", teams.join, name="join_team"),
    path("settings/teams/<int:team_id>/leave/", teams.leave, name="leave_team"),
    path("settings/teams/<int:team_id>/delete/", teams.delete, name="delete_team"),
    path("settings/audit/", audit.index, name="audit"),
]
