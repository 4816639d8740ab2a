export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'delegate.theme'
const next: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

function stored(): Theme {
  const theme = localStorage.getItem(storageKey)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Pages that the service renders (a note's) run no script, so they read the theme from a cookie. */
function setThemeCookie(theme: Theme): void {
  const expiry = theme === 'system' ? 'max-age=0' : 'max-age=31536000'
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context.
  document.cookie = `delegate_theme=${theme}; path=/; samesite=lax; ${expiry}`
}

/** The owner's theme, stored in this browser and shared by its tabs. */
export function createThemeChoice(root: HTMLElement) {
  let current = stored()
  setThemeCookie(current)

  function apply(theme: Theme): void {
    current = theme
    if (theme === 'system') delete root.dataset.theme
    else root.dataset.theme = theme
    setThemeCookie(theme)
  }

  return {
    get current(): Theme {
      return current
    },
    /** system → light → dark → system. */
    advance(): void {
      apply(next[current])
      localStorage.setItem(storageKey, current)
    },
    /** Calls back when another tab changes the theme. */
    subscribe(listener: () => void, signal: AbortSignal): void {
      const changed = (event: StorageEvent) => {
        if (event.key !== storageKey) return
        apply(stored())
        listener()
      }
      addEventListener('storage', changed, { signal })
    },
  }
}
