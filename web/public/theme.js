// Runs before the first paint, so that a chosen theme never flashes. A file, not inline: the content security
// policy allows no inline script.
try {
  const theme = localStorage.getItem('delegate.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is blocked: the system's preference stands.
}
