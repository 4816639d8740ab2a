export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'delegate.theme'
const next: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

export type ThemeChoice = {
  readonly current: Theme
  /** system → light → dark → system. */
  advance(): Theme
  /** Another tab chose. Returns the subscription's end. */
  subscribe(listener: () => void): () => void
}

function stored(): Theme {
  try {
    const theme = localStorage.getItem(storageKey)
    return theme === 'light' || theme === 'dark' ? theme : 'system'
  } catch {
    return 'system'
  }
}

/** The pages that the service makes by itself (a note's) run no script: they are told by a cookie. */
function tellService(theme: Theme): void {
  const kept = theme === 'system' ? 'max-age=0' : 'max-age=31536000'
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, a home network is none.
  document.cookie = `delegate_theme=${theme}; path=/; samesite=lax; ${kept}`
}

/** The owner's choice of light or dark, kept in this browser and in step between its tabs. */
export function createThemeChoice(root: HTMLElement): ThemeChoice {
  let current = stored()
  tellService(current)

  function apply(theme: Theme): void {
    current = theme
    if (theme === 'system') delete root.dataset.theme
    else root.dataset.theme = theme
    tellService(theme)
  }

  return {
    get current() {
      return current
    },
    advance() {
      apply(next[current])
      try {
        localStorage.setItem(storageKey, current)
      } catch {
        // Storage is blocked: the choice holds for this page alone.
      }
      return current
    },
    subscribe(listener) {
      const changed = (event: StorageEvent) => {
        if (event.key !== storageKey) return
        apply(stored())
        listener()
      }
      addEventListener('storage', changed)
      return () => removeEventListener('storage', changed)
    },
  }
}
