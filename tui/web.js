new MutationObserver((_, observer) => {
  const line = document.querySelector(".-first-byte .xterm-helper-textarea")
  if (line) { line.focus(); observer.disconnect() }
}).observe(document, { attributes: true, childList: true, subtree: true })
