"""What people see: server-rendered pages, each also rendered in pieces for the live feed.

Answer first, picture second, table third, raw data last. A page is a function of the read model
(`http.reads`) and of who looks (`view.View`); templates hold no logic beyond showing.

    language     which language, from where; the message catalogues
    view         who looks, and how: language, time zone, theme, role
    format       instants, spans, money, shares as people read them
    pictures     geometry of the inline drawings: sparklines, lanes, cells, bars
    rendering    templates + view -> HTML
    site         routes, fragments, error page: `add_pages(app)`
"""

from controlplane.http.pages.site import add_pages

__all__ = ["add_pages"]
