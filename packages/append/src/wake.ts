import { call, requireSession, type Session } from './session.ts';

/**
 * Lets the worker of an account look for its events at once, after the commit that appended them. Without it, the worker finds them at its
 * next poll, within 500 ms. Pass a connection outside of the transaction, such as the pool.
 */
export async function wake(session: Session, account: string): Promise<void> {
  requireSession(session);
  await call(session, 'wake', { account: { value: account } });
}
