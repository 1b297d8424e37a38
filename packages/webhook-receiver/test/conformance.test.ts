import { describe, expect, test } from 'vitest';
import { adapters } from './support/adapters.ts';
import { cases, check } from './support/conformance.ts';
import { deliveryOf } from './support/delivery.ts';
import { Subject } from './support/subject.ts';

describe.each(adapters)('$name', (adapter) => {
  test.each(cases.filter(({ streams }) => streams !== true || !adapter.isBuffered))('$name', async (checked) => {
    await expect(check(checked, adapter)).resolves.toBeUndefined();
  });

  test('processes a delivery after a parser that keeps the bytes', async () => {
    const subject = await Subject.start(adapter, undefined, {}, 'parser');
    const answer = await subject.send(deliveryOf());
    await subject.stop();
    expect(answer).toMatchObject({ status: 200, json: { result: 'processed' } });
  });

  test('responds 500 and logs the fix in one line after something that consumes the body', async () => {
    const subject = await Subject.start(adapter, undefined, {}, 'consumed');
    const answer = await subject.send(deliveryOf());
    await subject.stop();
    expect(answer).toMatchObject({ status: 500, json: { code: 'BODY_NOT_RAW' } });
    expect(subject.logged).toHaveLength(1);
    expect(subject.logged[0]).toMatch(/^BODY_NOT_RAW: [^\n]*$/);
    expect(subject.logged[0]).toContain(adapter.fix);
    expect(subject.handled).toEqual([]);
  });
});
