/// <reference lib="dom" />

export interface BarOptions {
  /** Oldest first. */
  versions: { version: string; status: string }[];
  /** The version that the address of the page names. Null: the version of the client. */
  named: string | null;
}

interface Cost {
  requestedQueryCost: number;
  /** Undefined if the operation did not run. */
  actualQueryCost?: number;
  throttleStatus?: { currentlyAvailable: number };
}

/**
 * Adds a bar to the page, with a choice of the version and the cost of the last response. Runs in the browser, before the
 * script of GraphiQL, so it must not use anything outside of its body.
 */
export function showBar({ versions, named }: BarOptions): void {
  const bar = document.createElement('div');
  bar.style.cssText =
    'position:fixed;z-index:10;right:12px;bottom:8px;padding:4px 10px;border-radius:6px;background:#1f2933;color:#fff;font:13px system-ui,sans-serif';
  const label = document.createElement('label');
  label.textContent = 'Version ';
  const select = document.createElement('select');
  select.append(new Option('of the client', ''));
  for (const { version, status } of versions) select.append(new Option(`${version} (${status})`, version));
  select.value = named ?? '';
  // The page reads the schema of the version when it loads.
  select.addEventListener('change', () => {
    const parameters = new URLSearchParams(location.search);
    if (select.value === '') parameters.delete('version');
    else parameters.set('version', select.value);
    location.search = parameters.toString();
  });
  label.append(select);
  const cost = document.createElement('output');
  cost.id = 'cost';
  cost.style.marginLeft = '12px';
  cost.textContent = 'No operation has run yet.';
  bar.append(label, cost);
  document.body.append(bar);

  const showCost = (body: { extensions?: { cost?: Cost }; errors?: { extensions?: { cost?: Cost } }[] }): void => {
    const shown = body.extensions?.cost ?? body.errors?.[0]?.extensions?.cost;
    if (shown === undefined) return;
    const charged = shown.actualQueryCost === undefined ? '' : `, charged ${shown.actualQueryCost}`;
    const left = shown.throttleStatus ? `; ${shown.throttleStatus.currentlyAvailable} points are left` : '';
    cost.textContent = `Cost: requested ${shown.requestedQueryCost}${charged}${left}`;
  };
  const send = window.fetch;
  window.fetch = async (...request) => {
    const response = await send(...request);
    response
      .clone()
      .json()
      .then(showCost, () => {}); // not JSON
    return response;
  };
}
