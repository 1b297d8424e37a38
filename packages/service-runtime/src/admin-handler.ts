import type { IncomingMessage } from 'node:http';
import type { Registry } from 'prom-client';
import type { HttpResponse } from './http/http-response.ts';
import { type RenderRefusal, renderRefusal } from './http/refusal.ts';
import { requestPath } from './http/request-path.ts';
import type { Readiness } from './readiness.ts';

const methods = ['GET', 'HEAD'];

export const renderAdminRefusal: RenderRefusal = (refusal, requestId) => {
  const response = renderRefusal(refusal, requestId);
  if (refusal.code !== 'METHOD_NOT_ALLOWED') return response;
  return { ...response, headers: { ...response.headers, Allow: methods.join(', ') } };
};

/** Serves `/health`, `/ready` and `/metrics`. They need no credentials, so they have their own port. */
export function createAdminHandler(metrics: Registry, readiness: Pick<Readiness, 'problems'>) {
  const pages: Readonly<Record<string, () => Promise<HttpResponse>>> = {
    '/health': async () => json(200, { healthy: true }),
    async '/ready'() {
      const problems = readiness.problems();
      const ready = problems.length === 0;
      return json(ready ? 200 : 503, { ready, problems });
    },
    '/metrics': async () => ({
      status: 200,
      headers: { 'Content-Type': metrics.contentType },
      body: await metrics.metrics(),
    }),
  };
  const paths = Object.keys(pages);

  return async function handle(request: IncomingMessage, { requestId }: { requestId: string }): Promise<HttpResponse> {
    const path = requestPath(request);
    const page = paths.includes(path) ? pages[path] : undefined;
    if (!page) {
      const message = `This path does not exist. The paths are ${paths.join(', ')}.`;
      return renderAdminRefusal({ code: 'NOT_FOUND', message }, requestId);
    }
    if (!methods.includes(request.method ?? '')) {
      const message = 'This method is not allowed. Send requests with GET or HEAD.';
      return renderAdminRefusal({ code: 'METHOD_NOT_ALLOWED', message }, requestId);
    }
    return page();
  };
}

function json(status: number, body: unknown): HttpResponse {
  return { status, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}
