/** The operation `Subscriptions`, from vite.config.ts: a module that other scripts import too would be its own file. */
declare const firstQuery: string;

const show = (tag: string, textContent: string) => Object.assign(document.createElement(tag), { textContent });

let isWaiting = false;

/** How often the page has been loaded again, and counts this time. `main.tsx` removes the count once a page is loaded. */
function countReload(): number {
  try {
    const reloads = Number(sessionStorage.getItem('deedwire-portal-reloads'));
    sessionStorage.setItem('deedwire-portal-reloads', String(reloads + 1));
    return reloads;
  } catch {
    // The browser stores nothing for this site: the pace is the lowest.
    return 3;
  }
}

/**
 * Loads the page again, after 1 to 2 seconds, and if that does not help, after twice as long, up to 8 to 16 seconds: many pages may
 * wait for one server. It asks to wait for a second if it refuses a file.
 */
function reloadLater(): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(reload, 1_000 * 2 ** Math.min(countReload(), 3) * (1 + Math.random()));
}

/** Once somebody sees the page. */
function reload(): void {
  if (document.visibilityState === 'visible') location.reload();
  else document.addEventListener('visibilitychange', () => location.reload(), { once: true });
}

function fail(): void {
  reloadLater();
  const button = show('button', 'Reload');
  button.addEventListener('click', () => location.reload());
  const main = Object.assign(document.createElement('main'), { className: 'notice' });
  const text = 'A file did not arrive, or Deedwire was updated. Nothing was changed. This page tries again by itself.';
  main.append(show('h1', 'This page could not be shown'), show('p', text), button);
  document.body.replaceChildren(main);
}

/*
 * The server makes this script a part of each page, so that it runs when no file arrives. It runs before the others, and imports
 * nothing. Pages of the release before load it as a file.
 */

// The server has sent a refusal as the page.
const isRefused = 'refused' in document.documentElement.dataset;
if (isRefused) reloadLater();

// A script or a style sheet does not exist on this server, as during an update behind a balancer, or is refused, or did not arrive.
addEventListener(
  'error',
  ({ target }) => {
    const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet';
    if (document.readyState !== 'complete' && (isStyle || target instanceof HTMLScriptElement)) fail();
  },
  true,
);

// The same for a page in its own file.
addEventListener('vite:preloadError', fail);

// Requests the session beside the files, not after them, and then what the first page shows. A link opens another session.
const base = /^\/[^/]+\/portal\/\d+\//.exec(location.pathname)?.[0];
if (base && isSecureContext && !isRefused && !location.hash.startsWith('#link=')) {
  const headers = { Accept: 'application/graphql-response+json, application/json' };
  const init = { cache: 'no-store', redirect: 'manual' } as const;
  const session = fetch(`${base}session`, { ...init, headers });
  const responses = new Map([['GET', session]]);
  window.early = { sentMs: performance.now(), responses };
  const requestFirstQuery = async () => {
    const response = await session;
    if (!response.ok || location.pathname !== base) return;
    const { id }: { id: string } = await response.clone().json();
    const query = fetch(`${base}graphql`, {
      ...init,
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'X-Portal-Session': id },
      body: JSON.stringify({ documentId: firstQuery, variables: {} }),
    });
    responses.set(`${id} ${firstQuery}`, query);
    await query;
  };
  // `request.ts` says it, later than a browser reports it.
  requestFirstQuery().catch(() => {});
}
