// Runs before the first paint, so that the wrong theme never flashes. The content security policy forbids
// inline scripts.
try {
  const theme = localStorage.getItem('delegate.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is blocked: use the system's theme.
}
