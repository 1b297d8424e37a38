import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { createLogger, logAt, nameCell, withChosenFields } from './logger.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ name: 'test', level: 'info', service: testService }, { write: (line) => lines.push(line) }));
  return lines.join('');
}

test('writes one JSON object per line', () => {
  const line = logged((logger) => logger.info({ requestId: 'r1' }, 'served'));
  expect(JSON.parse(line)).toMatchObject({ level: 'info', name: 'test', requestId: 'r1', msg: 'served' });
  expect(JSON.parse(line).time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('names the cell in later lines, including of loggers that were derived before', () => {
  const text = logged((logger) => {
    const derived = withChosenFields(logger);
    logger.info('starting');
    nameCell(logger, 5);
    // Lines of the same millisecond are formatted alike.
    logAt(1, () => logger.info('ready'));
    logAt(2, () => derived.info({ status: 200 }, 'request'));
  });
  const cells = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { cell?: number }).cell);
  expect(cells).toEqual([undefined, 5, 5]);
});

test('redacts secrets in fields, nested objects, messages and errors', () => {
  const apiKey = 'dw_supplier_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE';
  const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const text = logged((logger) => {
    logger.info(
      { apiKey: 'a-secret', caller: { password: 'a-secret' }, headers: { 'x-service-api-key': 'a-secret' } },
      'x',
    );
    logger.info({ input: { deep: { deeper: webhookSecret } } }, `called with ${apiKey}`);
    logger.error({ err: new Error('cannot connect to postgres://api:a-secret@db/deedwire') }, 'x');
  });
  expect(text).not.toMatch(/a-secret|NotASecret|MfKQ/);
  expect(text).toContain('called with dw_supplier_ExampleKeyId_[redacted]');
  expect(text).toContain('postgres://[redacted]@db/deedwire');
});

test('redacts API keys and their header by the names of the service', () => {
  const lines: string[] = [];
  const service = { names: { ...testService.names, apiKeyPrefix: 'other', headerPrefix: 'X-Other' } } as const;
  const logger = createLogger({ name: 'test', level: 'info', service }, { write: (line) => lines.push(line) });
  const secret = 'NotASecretJustAnExampleOfTheShapeOfAnApiKey';
  logger.info(
    { headers: { 'x-other-api-key': 'a-secret' } },
    `called with other_supplier_ExampleKeyId_${secret}_2yWAfE`,
  );
  expect(lines.join('')).not.toMatch(/a-secret|NotASecret/);
  expect(lines.join('')).toContain('called with other_supplier_ExampleKeyId_[redacted]');
});

test('redacts values that look like secrets in lines with chosen fields', () => {
  const text = logged((logger) =>
    withChosenFields(logger).info(
      { clientRequestId: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', status: 200 },
      'request',
    ),
  );
  expect(JSON.parse(text)).toMatchObject({ clientRequestId: 'whsec_[redacted]', status: 200, msg: 'request' });
});
