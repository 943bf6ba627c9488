"""Every setting is a GODHAND_* variable with a default that is right for one person on one machine."""

import re
import secrets
import socket
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url

from sandboxes import env
from sandboxes.host import here

BASE_DIR = Path(__file__).resolve().parent.parent
HOST = here()

SECRET_KEY_FILE = HOST.home / "secret_key"


def secret_key() -> str:
    given = env.text("GODHAND_SECRET_KEY")
    if given:
        return given
    try:
        return SECRET_KEY_FILE.read_text().strip()
    except OSError:
        return secrets.token_urlsafe(48)


SECRET_KEY = secret_key()
DEBUG = env.boolean("GODHAND_DEBUG", False)

BIND = env.address("GODHAND_BIND", "127.0.0.1")
PORT = env.port("GODHAND_PORT", 8800)
GATE_PORT = env.port("GODHAND_GATE_PORT", 8801)
GATE_URL = env.url("GODHAND_GATE_URL", "", ("ws", "wss"))
GATE_CONNECTIONS = env.integer("GODHAND_GATE_CONNECTIONS", 200, 1, 10_000)
BOUND_URL = f"http://{'localhost' if BIND in {'127.0.0.1', '0.0.0.0'} else BIND}:{PORT}"
PUBLIC_URL = env.origin("GODHAND_URL", BOUND_URL, ("http", "https"))
URL_IS_GIVEN = bool(env.text("GODHAND_URL"))
MACHINE_HOST = env.host_name("GODHAND_HOST", socket.gethostname())
IDLE_MINUTES = env.integer("GODHAND_IDLE_MINUTES", 120, 0, 1_000_000)
WARM_TEMPLATES = env.boolean("GODHAND_TEMPLATES", True)
LEASE_SECONDS = env.integer("GODHAND_LEASE_SECONDS", 30, 1, 3600)
SNAPSHOT_BUDGET = env.integer("GODHAND_SNAPSHOT_BUDGET_MB", 4096, 64, 1 << 20) << 20
TAKEOVER_SECONDS = env.integer("GODHAND_TAKEOVER_SECONDS", 5, 1, 45)
TAKEOVER_SNAPSHOTS = env.boolean("GODHAND_TAKEOVER_SNAPSHOTS", True)
STUCK_SECONDS = env.integer("GODHAND_STUCK_SECONDS", 180, 1, 86_400)
WALL_MINUTES = env.integer("GODHAND_WALL_MINUTES", 0, 0, 1_000_000)
MACHINE_SLOTS = env.integer("GODHAND_MACHINES", 40, 1, 10_000)
POOL = env.integer("GODHAND_POOL", 0, 0, 1000)
USER_MACHINES = env.integer("GODHAND_USER_MACHINES", 0, 0, 10_000)
USER_TASKS = env.integer("GODHAND_USER_TASKS", 0, 0, 10_000)
USER_DISK_GB = env.integer("GODHAND_USER_DISK_GB", 0, 0, 1_000_000)
AUDIT_DAYS = env.integer("GODHAND_AUDIT_DAYS", 365, 0, 36_500)

PUBLIC_HOST = re.sub(r":\d+$", "", urlsplit(PUBLIC_URL).netloc)
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", BIND, PUBLIC_HOST, *env.hosts("GODHAND_ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL.startswith("https://") else []
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_NAME = f"godhand-{PORT}-session"
CSRF_COOKIE_NAME = f"godhand-{PORT}-csrf"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "SAMEORIGIN"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "godhand_web",
    "sandboxes",
    "traces",
    "agents",
]

MIDDLEWARE = [
    "godhand_web.middleware.ContentSecurityPolicy",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "godhand_web.sessions.LastSeen",
    "django.contrib.messages.middleware.MessageMiddleware",
    "godhand_web.audit.Trail",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "godhand_web.urls"
ASGI_APPLICATION = "godhand_web.asgi.application"
AUTH_USER_MODEL = "godhand_web.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "dashboard"
LOGOUT_REDIRECT_URL = "login"
ACCOUNT_ADAPTER = "godhand_web.adapters.Accounts"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "20/5m/ip,5/5m/key", "reauthenticate": "10/5m/user"}
MFA_ADAPTER = "godhand_web.adapters.Factors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RATE_LIMITS = {"webauthn_login": "30/m/ip"}
MFA_TOTP_ISSUER = "GodHand"
MFA_TOTP_TOLERANCE = 1
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "godhand_web.context.shell",
            ]
        },
    }
]

SQLITE_FILE = HOST.home / "db" / "godhand.sqlite3"
DATABASE_URL = env.url("DATABASE_URL", "", ("postgres", "postgresql"), with_host=False)
DATABASES = {
    "default": dj_database_url.parse(DATABASE_URL, conn_health_checks=True)
    if DATABASE_URL
    else {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": SQLITE_FILE,
        "TEST": {"NAME": SQLITE_FILE.with_name("test.sqlite3")},
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}

REDIS_SOCKET = HOST.run / "redis.sock"
REDIS_URL = env.url("GODHAND_REDIS_URL", f"unix://{REDIS_SOCKET}", ("redis", "rediss", "unix"), with_host=False)
REDIS_IS_OURS = not env.text("GODHAND_REDIS_URL")
CHANNEL_LAYERS = {"default": {"BACKEND": "godhand_web.layer.Layer", "CONFIG": {"url": REDIS_URL}}}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "agents"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 10, "socket_connect_timeout": 3}
CELERY_BEAT_SCHEDULE_FILENAME = str(HOST.run / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "reap": {
        "task": "sandboxes.tasks.reap",
        "schedule": 30.0,
        "options": {"queue": f"machines.{MACHINE_HOST}", "expires": 25},
    },
    "reconcile": {"task": "agents.tasks.reconcile", "schedule": 5.0, "options": {"queue": "agents", "expires": 4}},
    "collect": {"task": "traces.tasks.collect", "schedule": 3600.0, "options": {"queue": "agents", "expires": 3000}},
    "pack": {"task": "traces.tasks.pack", "schedule": 120.0, "options": {"queue": "agents", "expires": 100}},
    "heal": {"task": "traces.tasks.heal", "schedule": 30.0, "options": {"queue": "agents", "expires": 25}},
    "tidy": {"task": "agents.tasks.tidy", "schedule": 6 * 3600.0, "options": {"queue": "agents", "expires": 3600}},
    "read": {"task": "agents.tasks.read_leftovers", "schedule": 60.0, "options": {"queue": "agents", "expires": 50}},
    "discard": {
        "task": "sandboxes.tasks.discard_snapshots",
        "schedule": 600.0,
        "options": {"queue": f"machines.{MACHINE_HOST}", "expires": 500},
    },
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 60
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/vendor/[^/]+-\d"
SCREENSHOTS = HOST.home / "screenshots"
EXPORTS = HOST.home / "exports"
EXPORT_DAYS = env.integer("GODHAND_EXPORT_DAYS", 7, 1, 3650)
IMPORT_MB = env.integer("GODHAND_IMPORT_MB", 2048, 1, 1_000_000)
BLOBS_HELD = "agents.attaching.held"
MAY_START = "godhand_web.access.may_create"
WEBHOOK_NETWORKS = env.networks("GODHAND_WEBHOOK_NETWORKS")
RETENTION = "agents.removal.chosen_days"
TRACE_CLEANER = "agents.sharing.cleaner_for"
TRACE_PAGE = "godhand_web.pages.trace_file.write"
TRACE_REDACTION = "agents.sharing.redaction_of"
TRACE_DAYS = env.integer("GODHAND_TRACE_DAYS", 0, 0, 36_500)
PICTURE_DAYS = env.integer("GODHAND_PICTURE_DAYS", 0, 0, 36_500)

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "traces.logsafe.CleanFormatter",
            "format": "{asctime} {levelname:<7} {name}: {message}",
            "style": "{",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.choice("GODHAND_LOG_LEVEL", "INFO", LOG_LEVELS)},
    "loggers": {"daphne.http_protocol": {"level": "WARNING"}, "twisted": {"level": "WARNING"}},
}
