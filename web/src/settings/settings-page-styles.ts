import { css } from 'lit'

/** Styles of the settings page outside its cards: section links, notices and the save bar. */
export const settingsPageStyles = css`
  /* A sticky row above the content, or a column beside it on wide pages. */
  .jumps {
    position: sticky;
    top: 0;
    z-index: 4;
    display: flex;
    gap: var(--space-2);
    margin: 0 calc(-1 * var(--space-4)) var(--space-3);
    padding: var(--space-2) var(--space-4);
    background: var(--paper);
    overflow-x: auto;
    scrollbar-width: none;
  }
  .jumps a {
    flex: none;
    padding: 0.4rem 0.8rem;
    border: 1px solid var(--line);
    border-radius: 999px;
    background: var(--surface);
    color: var(--ink-soft);
    font-size: var(--text-sm);
    text-decoration: none;
  }
  @media (pointer: coarse) {
    .jumps a {
      padding-block: 0.6rem;
    }
  }
  @media (min-width: 80rem) {
    .jumps {
      top: var(--space-4);
      flex-direction: column;
      gap: 0;
      float: inline-end;
      width: 8.5rem;
      margin: 0 -9.75rem 0 0;
      padding: 0;
      background: none;
      overflow: visible;
    }
    .jumps a {
      padding: 0.3rem 0.75rem;
      border: 0;
      border-radius: var(--radius-sm);
      background: none;
    }
    .jumps a:hover {
      background: var(--hover);
    }
  }
  .jumps a:hover {
    border-color: var(--line-strong);
    color: var(--ink);
  }
  .section > .foot {
    border-top: 1px solid var(--line);
  }
  .proxies {
    margin: 0 var(--space-4) var(--space-4);
  }
  .about-links {
    gap: var(--space-4);
  }
  .save-bar {
    position: sticky;
    bottom: var(--space-4);
    z-index: 5;
    margin-bottom: var(--space-5);
    padding: var(--space-2) var(--space-2) var(--space-2) var(--space-4);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-lg);
    background: var(--raised);
    box-shadow: var(--shadow-high);
  }
  .save-bar span {
    margin-inline-end: auto;
    font-size: var(--text-sm);
    font-weight: 550;
  }
`
