import { startStopwatch } from './stopwatch.ts';
import { useStore } from './use-store.ts';

/** The path of the account, for example `/customer/portal/7/`. */
export const base = /^\/[^/]+\/portal\/\d+\//.exec(location.pathname)?.[0] ?? '/';

/** As much of the service as the names of its headers need. The server writes it into the page. */
export const service = {
  names: { headerPrefix: document.querySelector<HTMLMetaElement>('meta[name="header-prefix"]')?.content ?? '' },
};

export type Ability = 'READ' | 'READ_PAYLOAD' | 'OPERATE' | 'CONFIGURE' | 'MANAGE_KEYS';

export interface Session {
  readonly id: string;
  readonly interface: string;
  readonly account: { readonly id: string; readonly name: string };
  readonly abilities: readonly string[];
  /** The client whose API keys the session manages, and what they can have at most. Servers of the release before do not say these two. */
  readonly keyClient?: string | null;
  readonly keyAbilities?: readonly string[];
  readonly actor: string;
  readonly returnUrl: string | null;
  readonly subscriptionId: string | null;
  /** How long it can be idle. */
  readonly idleSeconds: number;
  /** Servers of the release before do not say these two. */
  readonly idleEndsInSeconds?: number;
  readonly expiresInSeconds?: number;
  /** Where the folder `docs` is published. */
  readonly documentationUrl?: string;
}

/** What the tab shows: the pages of a session, or why there are none. */
type Gate =
  | { readonly kind: 'loading' | 'link-opened' | 'signed-out' }
  | { readonly kind: 'link-failed' | 'cookie-lost'; readonly requestId: string | undefined }
  | { readonly kind: 'link'; readonly token: string }
  | { readonly kind: 'open'; readonly session: Session }
  | {
      readonly kind: 'ended' | 'unchecked';
      readonly returnUrl: string | null;
      readonly requestId?: string | undefined;
    };

let gate: Gate = { kind: 'loading' };
const listeners = new Set<() => void>();

export function gateNow(): Gate {
  return gate;
}

export function setGate(next: Gate): void {
  gate = next;
  for (const listener of listeners) listener();
}

export function onGate(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useGate(): Gate {
  return useStore(onGate, gateNow);
}

/** The session of the pages. They are rendered only while there is one. */
export function useSession(): Session {
  const current = useGate();
  if (current.kind !== 'open') throw new Error('There is no session.');
  return current.session;
}

export function useMay(ability: Ability): boolean {
  return useSession().abilities.includes(ability);
}

/** Hides what the session shows. */
export function leaveSession(kind: 'ended' | 'unchecked', requestId?: string): void {
  if (gate.kind === 'open') setGate({ kind, returnUrl: gate.session.returnUrl, requestId });
}

interface TimeLeft {
  readonly expiresMs: number;
  readonly idleEndsMs: number;
  /** The time until the hard end, from the last response. */
  readonly saidMs: number;
  /** Whether it ends within a minute, from the last response. */
  readonly isLastMinute: boolean;
  /** Since that was known. */
  readonly passedMs: () => number;
}

let known: TimeLeft = {
  expiresMs: 0,
  idleEndsMs: 0,
  saidMs: Infinity,
  isLastMinute: false,
  passedMs: startStopwatch(),
};

/** How long the session lasts, from now on. */
export function timeLeft(): TimeLeft {
  const passedMs = known.passedMs();
  return { ...known, expiresMs: known.expiresMs - passedMs, idleEndsMs: known.idleEndsMs - passedMs };
}

/** Whether an answer is not newer than the last one: the hard end of a session comes nearer with each. */
export function isKept({ expiresInSeconds = 0 }: Session): boolean {
  return expiresInSeconds * 1000 >= known.saidMs;
}

/** @param passedMs since the server was asked: its answer can be late */
export function setTimeLeft(
  { idleSeconds, idleEndsInSeconds = idleSeconds, expiresInSeconds = Infinity }: Session,
  passedMs: () => number,
): void {
  const isLastMinute = Math.min(idleEndsInSeconds, expiresInSeconds) <= 60;
  const [expiresMs, idleEndsMs] = [expiresInSeconds * 1000, idleEndsInSeconds * 1000];
  known = { expiresMs, idleEndsMs, saidMs: expiresMs, isLastMinute, passedMs };
}

/** The session was used. The server records that once a minute, so its idle time can have started a minute ago. */
export function recordUse({ idleSeconds }: Session): void {
  const idleEndsMs = (idleSeconds - 60) * 1000;
  known = { ...timeLeft(), idleEndsMs, isLastMinute: false, passedMs: startStopwatch() };
}

/** The global identifier of a record, from the number in a URL. */
export function gidOf(session: Session, type: string, number: string): string {
  return session.account.id.replace(/\/[^/]+\/\d+$/, `/${type}/${number}`);
}
