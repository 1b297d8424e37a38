import { findPortalPage, type PortalPage } from '@deedwire/core/portal-paths';
import { Component, type ComponentChildren, type ComponentType, Fragment, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Layout } from './layout.tsx';
import { Link, useUrl } from './location.tsx';
import * as subscriptions from './pages/subscriptions.tsx';
import { SessionGate } from './session-gate.tsx';
import { base } from './session.ts';
import { Copy } from './ui/copy.tsx';
import { Heading } from './ui/heading.tsx';
import { Notice } from './ui/notice.tsx';
import { loading } from './ui/problem.tsx';
import { Visible } from './ui/text.tsx';

function forgetReloads(): void {
  try {
    sessionStorage.removeItem('deedwire-portal-reloads');
  } catch {
    // The browser stores nothing for this site.
  }
}

interface PageModule {
  readonly default: ComponentType<{ number: string }>;
}

/** Each page but the first is in its own file. If that does not arrive, `reload.ts` loads everything again. */
const imports: Readonly<Record<PortalPage, () => Promise<PageModule>>> = {
  subscriptions: async () => subscriptions,
  subscription: () => import('./pages/subscription.tsx'),
  pin: () => import('./pages/pin.tsx'),
  deliveries: () => import('./pages/deliveries.tsx'),
  delivery: () => import('./pages/delivery.tsx'),
  recover: () => import('./pages/recover.tsx'),
  completeness: () => import('./pages/completeness.tsx'),
  verify: () => import('./pages/verify.tsx'),
  keys: () => import('./pages/keys.tsx'),
  contacts: () => import('./pages/contacts.tsx'),
};

/** Those that have arrived. */
const pages: Partial<Record<PortalPage, PageModule>> = {};

async function load(name: PortalPage): Promise<void> {
  pages[name] ??= await imports[name]();
  forgetReloads();
}

const fallback = (
  <>
    <h1>Webhooks</h1>
    {loading}
  </>
);

function Page() {
  const found = findPortalPage(useUrl().path);
  const name = found?.name;
  const [, setArrived] = useState<PortalPage>();
  useEffect(() => {
    // `reload.ts` tells the person that it did not arrive.
    if (name)
      load(name).then(
        () => setArrived(name),
        () => {},
      );
  }, [name]);
  if (!found)
    return (
      <Heading title="No such page">
        <Link to="">See the subscriptions</Link>
      </Heading>
    );
  const Shown = pages[found.name]?.default;
  return Shown ? <Shown key={found.number} number={found.number} /> : fallback;
}

interface BoundaryState {
  readonly error: unknown;
  /** Another one mounts the page again. */
  readonly round: number;
}

/** Shows a page again that has failed: an extension of the browser may have changed its elements. One that fails again is replaced. */
class Boundary extends Component<{ children: ComponentChildren }, BoundaryState> {
  override state: BoundaryState = { error: null, round: 0 };

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown) {
    reportError(error);
    // Not at once: Preact reports an error in between to no component.
    if (this.state.round === 0) setTimeout(() => this.setState({ error: null, round: 1 }));
  }

  override render() {
    const { error, round } = this.state;
    if (error === null) return <Fragment key={round}>{this.props.children}</Fragment>;
    return round > 0 && <Failed error={error} />;
  }
}

function Failed({ error }: { error: unknown }) {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  // The message can quote a payload, and a path names an account: neither is copied.
  const places = stack.match(/[\w-]+\.js:\d+:\d+/g) ?? [];
  const path = location.pathname.replaceAll(/\d+/g, '…');
  return (
    <Notice title="Something in this page failed">
      <p>Reload the page. If it fails again, send the details to the operator.</p>
      <div className="actions">
        <button className="first" onClick={() => location.reload()}>
          Reload
        </button>
        <Copy label="Copy details" text={[name, path, navigator.userAgent, ...places].join('\n')} />
      </div>
      <p>
        <small>
          <Visible text={`${name}: ${message}`} />
        </small>
      </p>
    </Notice>
  );
}

const insecure = (
  <Notice title="The portal needs HTTPS">
    <p>
      This page was loaded by plain HTTP, so a browser keeps no session for it. The operator sets{' '}
      <code>PORTAL_ORIGIN</code> to an <code>https://</code> origin, and new links start with it.
    </p>
  </Notice>
);

const app = (
  <SessionGate>
    <Layout>
      <Page />
    </Layout>
  </SessionGate>
);

/** Without this, a browser opens a file or a link that is dropped beside a zone, and the page is lost. Text is dropped into a field. */
function refuseDrop(event: DragEvent): void {
  const { dataTransfer, target } = event;
  const isField = target instanceof Element && target.matches('input, textarea');
  if (event.defaultPrevented || !dataTransfer || (isField && !dataTransfer.types.includes('Files'))) return;
  event.preventDefault();
  dataTransfer.dropEffect = 'none';
}
for (const type of ['dragover', 'drop'] as const) addEventListener(type, refuseDrop);

// Beside the request for the session, not after it.
const first = findPortalPage(location.pathname.slice(base.length));
if (first) load(first.name).catch(() => {});

render(<Boundary>{isSecureContext ? app : insecure}</Boundary>, document.querySelector('#root') ?? document.body);
