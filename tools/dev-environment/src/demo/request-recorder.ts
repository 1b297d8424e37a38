import type { ReceivedRequest } from '../receiver.ts';

export interface RequestRecorder {
  record: (request: ReceivedRequest) => void;
  /** Resolves with the nth request, counted from 1, as soon as it has been received. */
  nth(count: number): Promise<ReceivedRequest>;
}

export function createRequestRecorder(): RequestRecorder {
  const requests: ReceivedRequest[] = [];
  const waiting: { count: number; resolve: (request: ReceivedRequest) => void }[] = [];
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
