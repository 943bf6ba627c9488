document.querySelector("form[data-submit-now]").requestSubmit();
