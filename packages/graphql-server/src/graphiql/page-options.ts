/// <reference lib="dom" />

export interface PageOptions {
  /** The path of the interface. */
  endpoint: string;
  /** Oldest first, with an operation to begin with. */
  versions: { version: string; status: string; example: string }[];
  /** The version that the address of the page names. Null: the version of the client. */
  named: string | null;
  /** The header in which a client names a version. */
  versionHeader: string;
  /** Those that the page fills in, as JSON. */
  headers: string;
}

/** What GraphiQL starts with, beside what the page contains. */
interface StartOptions {
  fetcher: (parameters: object, options?: { headers?: Record<string, string> }) => Promise<unknown>;
  query: string;
  variables?: string | undefined;
  initialHeaders?: string | undefined;
}

interface Cost {
  requestedQueryCost: number;
  /** Undefined if the operation did not run. */
  actualQueryCost?: number;
  throttleStatus?: { currentlyAvailable: number };
}

/** How GraphiQL stores its tabs. */
interface TabState {
  activeTabIndex: number;
  tabs: { query: string | null; variables?: string | null; headers?: string | null }[];
}

/**
 * Adds a bar to the page, with a choice of the version and the cost of the last response, and returns what GraphiQL starts with.
 * Runs in the browser, so it must not use anything outside of its body.
 */
export function pageOptions({ endpoint, versions, named, versionHeader, headers: current }: PageOptions): StartOptions {
  const style = document.createElement('style');
  style.textContent = `
    body { display: flex; flex-direction: column; height: 100dvh; margin: 0 }
    #root { flex: 1; min-height: 0; height: auto }
    .graphiql-container { height: 100% }
    @media (max-width: 700px) {
      .graphiql-logo, .graphiql-horizontal-drag-bar { display: none }
      :has(> .graphiql-response) { flex-direction: column }
    }
    #bar { display: flex; flex-wrap: wrap; gap: 4px 12px; padding: 4px 12px; background: #1f2933; color: #fff; font: 13px system-ui, sans-serif }`;
  const bar = document.createElement('div');
  bar.id = 'bar';
  const label = document.createElement('label');
  label.textContent = 'Version ';
  const select = document.createElement('select');
  select.append(new Option('of the client', ''));
  for (const { version, status } of versions) select.append(new Option(`${version} (${status})`, version));
  select.value = named ?? '';
  // The page reads the schema of the version when it loads.
  select.addEventListener('change', () => {
    const parameters = new URLSearchParams(location.search);
    // GraphiQL keeps it in a tab.
    parameters.delete('query');
    if (select.value === '') parameters.delete('version');
    else parameters.set('version', select.value);
    location.search = parameters.toString();
  });
  label.append(select);
  const cost = document.createElement('output');
  cost.id = 'cost';
  cost.textContent = 'No operation has run yet.';
  bar.append(label, cost);
  document.head.append(style);
  document.body.append(bar);

  const showCost = (body: { extensions?: { cost?: Cost }; errors?: { extensions?: { cost?: Cost } }[] }): void => {
    const shown = body.extensions?.cost ?? body.errors?.[0]?.extensions?.cost;
    if (shown === undefined) return;
    const charged = shown.actualQueryCost === undefined ? '' : `, charged ${shown.actualQueryCost}`;
    const left = shown.throttleStatus ? `; ${shown.throttleStatus.currentlyAvailable} points are left` : '';
    cost.textContent = `Cost: requested ${shown.requestedQueryCost}${charged}${left}`;
  };

  const stored: TabState | null = JSON.parse(localStorage.getItem('graphiql:tabState') ?? 'null');
  // The version of a client is often the oldest one.
  const { example = '' } = versions.find(({ version }) => version === named) ?? versions[0] ?? {};
  const asked = new URLSearchParams(location.search).get('query');
  // GraphiQL opens another tab unless it starts with exactly the contents of one.
  const tab = stored?.tabs.find(({ query }, index) =>
    asked === null ? index === stored.activeTabIndex : query === asked,
  );
  // An example that was not changed follows the version.
  if (tab && asked === null && versions.some((version) => version.example === tab.query)) {
    tab.query = example;
    localStorage.setItem('graphiql:tabState', JSON.stringify(stored));
  }
  // Tabs keep what somebody wrote there, but not the credentials of an earlier server.
  if (stored && localStorage.getItem('deedwire:headers') !== current) {
    for (const each of stored.tabs) each.headers = current;
    localStorage.setItem('graphiql:tabState', JSON.stringify(stored));
  }
  localStorage.setItem('deedwire:headers', current);
  return {
    query: asked ?? tab?.query ?? example,
    variables: tab?.variables ?? undefined,
    initialHeaders: tab?.headers ?? undefined,
    // That of the library removes white space, so that the locations of errors would be others, and does not show them.
    async fetcher(parameters, { headers = {} } = {}) {
      const ofVersion = named === null ? {} : { [versionHeader]: named };
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...ofVersion, ...headers },
        body: JSON.stringify(parameters),
      });
      const body = await response.json();
      showCost(body);
      return body;
    },
  };
}
