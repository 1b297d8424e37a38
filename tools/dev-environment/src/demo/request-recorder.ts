import type { DemoRequest } from './demo-receiver.ts';

export interface RequestRecorder {
  record: (request: DemoRequest) => void;
  /** Resolves with the nth request, counted from 1, as soon as it has been received. */
  nth(count: number): Promise<DemoRequest>;
}

export function createRequestRecorder(): RequestRecorder {
  const requests: DemoRequest[] = [];
  const waiting: { count: number; resolve: (request: DemoRequest) => void }[] = [];
  return {
    record(request) {
      requests.push(request);
      for (const { count, resolve } of waiting) if (count === requests.length) resolve(request);
    },
    async nth(count) {
      return requests[count - 1] ?? new Promise((resolve) => waiting.push({ count, resolve }));
    },
  };
}
