import { expect, onTestFinished, test } from 'vitest';
import type { Adapter } from './adapters.ts';
import { cases, check } from './conformance.ts';
import { deliveryOf } from './delivery.ts';
import { Subject } from './subject.ts';

/** Registers the tests of one adapter: each case that the platform can pass on to the receiver, and what is mounted before it. */
export function testConformance(adapter: Adapter): void {
  const { isBuffered, excluded = [] } = adapter;

  test('excludes existing cases only', () => {
    expect(cases.map(({ name }) => name)).toEqual(expect.arrayContaining([...excluded]));
  });

  const included = cases.filter(({ name, streams }) => !(streams === true && isBuffered) && !excluded.includes(name));
  test.each(included)('$name', async (checked) => {
    await expect(check(checked, adapter)).resolves.toBeUndefined();
  });

  test('processes a delivery after a parser that keeps the bytes', async () => {
    const subject = await Subject.start(adapter, { mount: 'parser' });
    onTestFinished(() => subject.stop());
    const answer = await subject.send(deliveryOf());
    expect(answer).toMatchObject({ status: 200, json: { result: 'processed' } });
  });

  test('responds 500 and logs the fix in one line after something that consumes the body', async () => {
    const subject = await Subject.start(adapter, { mount: 'consumed' });
    onTestFinished(() => subject.stop());
    const answer = await subject.send(deliveryOf());
    const logged = await subject.running.logged();
    expect(answer).toMatchObject({ status: 500, json: { code: 'BODY_NOT_RAW' } });
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/^BODY_NOT_RAW: [^\n]*$/);
    expect(logged[0]).toContain(adapter.fix);
    expect(subject.handled).toEqual([]);
  });
}
