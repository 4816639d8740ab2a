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

/** The owner's choice of light or dark, kept in this browser and in step between its tabs. */
export function createThemeChoice(root: HTMLElement): ThemeChoice {
  let current = stored()

  function apply(theme: Theme): void {
    current = theme
    if (theme === 'system') delete root.dataset.theme
    else root.dataset.theme = theme
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
