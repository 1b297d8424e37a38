const show = (tag: string, textContent: string) => Object.assign(document.createElement(tag), { textContent });

/**
 * Reloads the page once if the server has no script or style sheet of this name, as during an update behind a balancer, and then
 * says so. The server of each release has this script, under one name. It runs before the others, and imports nothing.
 */
addEventListener(
  'error',
  ({ target }) => {
    const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet';
    if (document.readyState === 'complete' || !(isStyle || target instanceof HTMLScriptElement)) return;
    // `main.tsx` removes it once a page is loaded.
    if (sessionStorage.getItem('deedwire-portal-reloaded') === null) {
      sessionStorage.setItem('deedwire-portal-reloaded', 'yes');
      location.reload();
      return;
    }
    const button = show('button', 'Reload');
    button.addEventListener('click', () => location.reload());
    const main = Object.assign(document.createElement('main'), { className: 'notice' });
    const text = 'Deedwire may have been updated, or a file did not arrive. Nothing was changed.';
    main.append(show('h1', 'This page could not be shown'), show('p', text), button);
    document.body.replaceChildren(main);
  },
  true,
);
