/** Whether a request only reads. Node sends no body in a response to HEAD. */
export function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}
