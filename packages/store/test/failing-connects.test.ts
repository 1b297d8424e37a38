import { testService } from '@deedwire/core/test-service';
import { type Errno, failConnects, type FailsWhen } from '@deedwire/testing/failing-connects';
import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { describe, expect, test } from 'vitest';
import { createStore, migrate, StoreUnavailableError, withTableLock } from '../src/index.ts';
import { createListener } from '../src/notifications/listener.ts';
import { createNotifier } from '../src/notifications/notifier.ts';

const codes: readonly Errno[] = [
  'ECONNREFUSED',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EACCES',
  'EINVAL',
  'EADDRNOTAVAIL',
  'EMFILE',
];
const urls = [
  'postgres://a:b@192.0.2.1/c',
  'postgres://a:b@[2001:db8::1]/c',
  'postgres://a:b@192.0.2.1/c?sslmode=no-verify',
];

describe.each<FailsWhen>(['in the same tick', 'later'])('a connection to the database that fails %s', (when) => {
  test.each(codes)('with %s is an unavailable database and ends no process', async (code) => {
    const uncaught = recordUncaughtErrors();
    await failConnects(code, when);
    for (const databaseUrl of urls) {
      const store = createStore({ databaseUrl, applicationName: 'test' });
      const unavailable = { name: 'StoreUnavailableError', reason: code };
      await expect(store.query({ name: 'one', text: 'select 1' }, [])).rejects.toMatchObject(unavailable);
      await expect(store.transaction(async () => {})).rejects.toMatchObject(unavailable);
      await expect(migrate(databaseUrl, testService)).rejects.toMatchObject(unavailable);
      const lock = { directUrl: databaseUrl, applicationName: 'test', table: 'account' };
      await expect(withTableLock(lock, async () => {})).rejects.toThrow(StoreUnavailableError);
      const errors = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()] as const;
      const [notListening, notNotified] = errors;
      const listening = { databaseUrl, applicationName: 'test', onWake() {}, onError: notListening.resolve };
      const listener = createListener(listening);
      const notifier = createNotifier({ databaseUrl, applicationName: 'test', onError: notNotified.resolve });
      notifier.notify('');
      for (const { promise } of errors) expect(await promise).toMatchObject({ code });
      await listener.close();
      await notifier.close();
      await store.close();
    }
    expect(await uncaught()).toEqual([]);
  });
});
