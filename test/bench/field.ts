/** Runs in a page: `whenInteractive` resolves with the ms from navigation until a field accepts input. */
export const watchForField = `
  globalThis.whenInteractive = new Promise((resolve) => {
    const find = (root) => {
      for (const element of root.querySelectorAll('*')) {
        const isField = element.matches('textarea, input[type=password]')
        if (isField && !element.disabled && element.getBoundingClientRect().height > 0) return element
        const found = element.shadowRoot ? find(element.shadowRoot) : null
        if (found) return found
      }
      return null
    }
    const look = () => {
      const field = find(document)
      if (!field) return void requestAnimationFrame(look)
      field.focus()
      setTimeout(() => resolve(performance.now()))
    }
    requestAnimationFrame(look)
  })
`
