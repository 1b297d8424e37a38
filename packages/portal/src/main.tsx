import { findPortalPage, type PortalPage } from '@deedwire/domain/portal-paths';
import { Component, type ComponentType, Fragment, type ReactNode, Suspense, use } from 'react';
import { createRoot } from 'react-dom/client';
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

/** A page in a file of its own. If that does not arrive, `reload.ts` loads everything again. */
function page(load: () => Promise<PageModule>): () => Promise<PageModule> {
  let found: Promise<PageModule> | undefined;
  return () => {
    found ??= load().then((value) => {
      forgetReloads();
      // `use` reads from these what is here already. Otherwise, React shows the fallback first, for at least 300 ms.
      Object.assign(found ?? {}, { status: 'fulfilled', value });
      return value;
    });
    return found;
  };
}

const pages: Readonly<Record<PortalPage, () => Promise<PageModule>>> = {
  subscriptions: page(async () => subscriptions),
  subscription: page(() => import('./pages/subscription.tsx')),
  pin: page(() => import('./pages/pin.tsx')),
  deliveries: page(() => import('./pages/deliveries.tsx')),
  delivery: page(() => import('./pages/delivery.tsx')),
  recover: page(() => import('./pages/recover.tsx')),
  completeness: page(() => import('./pages/completeness.tsx')),
  verify: page(() => import('./pages/verify.tsx')),
};

function Page() {
  const found = findPortalPage(useUrl().path);
  if (found) {
    const { default: Shown } = use(pages[found.name]());
    return <Shown key={found.number} number={found.number} />;
  }
  return (
    <Heading title="No such page">
      <Link to="">See the subscriptions</Link>
    </Heading>
  );
}

interface BoundaryState {
  readonly error: unknown;
  /** Another one mounts the page again. */
  readonly round: number;
}

/** Shows a page again that has failed: an extension of the browser may have changed its elements. One that fails again is replaced. */
class Boundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: null, round: 0 };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch() {
    if (this.state.round === 0) this.setState({ error: null, round: 1 });
  }

  override render() {
    const { error, round } = this.state;
    return error === null ? <Fragment key={round}>{this.props.children}</Fragment> : <Failed error={error} />;
  }
}

function Failed({ error }: { error: unknown }) {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  // The message can quote a payload, and a path names an account: neither is copied.
  const places = stack.match(/[\w-]+\.js:\d+:\d+/g) ?? [];
  const path = location.pathname.replaceAll(/\d+/g, '…');
  return (
    <Notice title="Something in this page failed">
      <p>Reload the page. If it fails again, send the details to the operator of Deedwire.</p>
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
      This page was loaded by plain HTTP, so a browser keeps no session for it. An operator of Deedwire sets{' '}
      <code>PORTAL_ORIGIN</code> to an <code>https://</code> origin, and new links start with it.
    </p>
  </Notice>
);

const fallback = (
  <>
    <h1>Webhooks</h1>
    {loading}
  </>
);

const app = (
  <SessionGate>
    <Layout>
      <Suspense fallback={fallback}>
        <Page />
      </Suspense>
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
if (first) pages[first.name]().catch(() => {});

const root = createRoot(document.querySelector('#root') ?? document.body);
root.render(<Boundary>{isSecureContext ? app : insecure}</Boundary>);
