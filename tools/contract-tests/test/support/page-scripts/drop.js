// Drops a file or a text on the first element that a selector finds. Returns whether the page handles it.
globalThis.dropOn = (selector, type, kind) => {
  const dataTransfer = new DataTransfer();
  if (kind === 'file') dataTransfer.items.add(new File(['{}'], 'receiver.log'));
  else dataTransfer.setData('text/plain', 'https://example.com/');
  const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer });
  document.querySelector(selector).dispatchEvent(event);
  return event.defaultPrevented;
};
