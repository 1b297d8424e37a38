// Replaces each text as the translator of Chrome does, now and after each change.
new MutationObserver(() => {
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  const texts = [];
  const kept = 'font, [translate=no], script, style, title, textarea, noscript';
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node.data.trim() !== '' && !node.parentElement?.closest(kept)) texts.push(node);
  }
  for (const text of texts) {
    const [outer, inner] = [document.createElement('font'), document.createElement('font')];
    inner.textContent = `\u00AB${text.data}\u00BB`;
    outer.append(inner);
    text.replaceWith(outer);
  }
}).observe(document, { childList: true, characterData: true, subtree: true });
