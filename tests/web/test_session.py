from django.test import Client

from godhand_web.models import LoginLink, User


def link(owner: User) -> str:
    return f"/login/link/{LoginLink.issue(owner)}/"


def test_it_offers_to_continue_without_using_the_link_up(client: Client, owner: User) -> None:
    address = link(owner)
    for _ in range(2):
        assert "Continue as owner" in client.get(address).content.decode()
    assert LoginLink.objects.count() == 1


def test_it_logs_in_once(client: Client, owner: User) -> None:
    address = link(owner)
    assert client.post(address).headers["Location"] == "/"
    assert client.get("/").status_code == 200
    second = Client().post(address)
    assert second.status_code == 410
    assert "./godhand status" in second.content.decode()


def test_it_explains_a_link_it_does_not_know(client: Client, db: None) -> None:
    assert client.get("/login/link/never-made/").status_code == 410


def test_it_lets_nobody_in_who_was_put_out(client: Client, owner: User) -> None:
    address = link(owner)
    User.objects.update(is_active=False)
    assert client.get(address).status_code == 410
    assert client.post(address).status_code == 410


def test_it_logs_in_by_password_and_out_again(client: Client, owner: User) -> None:
    owner.set_password("correct horse")
    owner.save()
    wrong = client.post("/login/", {"username": "owner", "password": "battery"})
    assert "do not match" in wrong.content.decode()
    right = client.post("/login/?next=/images/", {"username": "owner", "password": "correct horse", "next": "/images/"})
    assert right.headers["Location"] == "/images/"
    client.post("/logout/")
    assert client.get("/").status_code == 302


def test_it_remembers_the_theme_and_sends_nobody_elsewhere(client: Client, db: None) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "https://elsewhere.test/"})
    assert response.headers["Location"] == "/"
    assert 'data-theme="dark"' in client.get("/login/").content.decode()
    client.post("/theme/", {"theme": "system", "next": "/login/"})
    assert 'data-theme="system"' in client.get("/login/").content.decode()


def test_it_opens_the_page_that_the_link_was_made_for(client: Client, owner: User) -> None:
    assert client.post(f"{link(owner)}?next=/images/")["Location"] == "/images/"


def test_it_leads_to_no_page_of_anybody_else(client: Client, owner: User) -> None:
    assert client.post(f"{link(owner)}?next=//elsewhere.example/")["Location"] == "/"
