import { expect, test } from 'vitest';
import { loadEvents } from '../../src/cli/event-package.ts';
import { gradeReceiver } from '../../src/cli/grade.ts';
import type { Adapter } from './adapters.ts';
import { cases, check } from './conformance.ts';
import { newSecret, secret } from './delivery.ts';
import { orderEvents } from './event-packages.ts';
import { Subject } from './subject.ts';

/** Registers the tests of one adapter: each case that the platform can pass on to the receiver. */
export function testConformance(adapter: Adapter): void {
  const { isBuffered, excluded = [] } = adapter;

  test('passes every check of the command grade', async () => {
    const subject = await Subject.start(adapter, { setup: { secrets: [newSecret, secret] } });
    try {
      const notPassed: unknown[] = [];
      const url = new URL(subject.running.url);
      const events = await loadEvents(orderEvents);
      const sent = { events, prefix: 'X-Service', type: 'order.placed', version: '2026-11-01' };
      const count = async (): Promise<number> => subject.handled.length;
      for await (const grade of gradeReceiver({ url, secret, nextSecret: newSecret, ...sent, count }))
        if (grade.result !== 'pass') notPassed.push(grade);
      expect(notPassed).toEqual([]);
    } finally {
      await subject.stop();
    }
  });

  test('excludes existing cases only', () => {
    expect(cases.map(({ name }) => name)).toEqual(expect.arrayContaining([...excluded]));
  });

  const included = cases.filter(({ name, streams }) => !(streams === true && isBuffered) && !excluded.includes(name));
  test.each(included)('$name', async (checked) => {
    await expect(check(checked, adapter)).resolves.toBeUndefined();
  });
}
