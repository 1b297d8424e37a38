import { Component, type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Layout } from './layout.tsx';
import { Link, useUrl } from './location.tsx';
import { SessionGate } from './session-gate.tsx';
import { Heading } from './ui/heading.tsx';
import { Notice } from './ui/notice.tsx';
import { loading } from './ui/problem.tsx';

function forgetReloads(): void {
  try {
    sessionStorage.removeItem('deedwire-portal-reloads');
  } catch {
    // The browser stores nothing for this site.
  }
}

/** A page in a file of its own. If that does not arrive, `reload.ts` loads everything again. */
function page(load: () => Promise<{ default: ComponentType<{ number: string }> }>) {
  return lazy(async () => {
    const module = await load();
    forgetReloads();
    return module;
  });
}

const routes = [
  [/^$/, page(() => import('./pages/subscriptions.tsx'))],
  [/^subscriptions\/(\d{1,19})$/, page(() => import('./pages/subscription.tsx'))],
  [/^subscriptions\/(\d{1,19})\/pin$/, page(() => import('./pages/pin.tsx'))],
  [/^deliveries$/, page(() => import('./pages/deliveries.tsx'))],
  [/^deliveries\/(\d{1,19})$/, page(() => import('./pages/delivery.tsx'))],
  [/^recover$/, page(() => import('./pages/recover.tsx'))],
  [/^recover\/completeness$/, page(() => import('./pages/completeness.tsx'))],
  [/^verify$/, page(() => import('./pages/verify.tsx'))],
] as const;

function Page() {
  const { path } = useUrl();
  for (const [pattern, Shown] of routes) {
    const match = pattern.exec(path);
    if (match) return <Shown key={match[1] ?? ''} number={match[1] ?? ''} />;
  }
  return (
    <Heading title="No such page">
      <Link to="">See the subscriptions</Link>
    </Heading>
  );
}

/** A page that has a defect. */
class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice title="This page could not be shown">
        <p>It has a defect. Reload it, and report it to the operator of Deedwire if that does not help.</p>
        <button className="first" onClick={() => location.reload()}>
          Reload
        </button>
      </Notice>
    );
  }
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

const root = createRoot(document.querySelector('#root') ?? document.body);
root.render(<Boundary>{isSecureContext ? app : insecure}</Boundary>);
