"""The read model: what pages and API show, computed once from the state, as frozen values.

Whatever is not known is None and says why and since when; it is never 0. One verb a file:

    fleet.fleet(state) -> Fleet                     fleet.top_bar(state) -> TopBar
    models.model_rows(state) -> tuple[ModelRow]     models.model_detail(state, name) -> ModelDetail
    series.series(state, name, since) -> Series     (None where the model is not catalogued)
    decisions.decision_list(state, query) -> DecisionList
    decisions.decision_detail(state, id) -> DecisionDetail | None
    costs.costs(state, CostQuery(...)) -> Costs
    catalogue.catalogue_view(state) -> CatalogueView
    catalogue.catalogue_diff(state, older, newer) -> CatalogueDiff | None
"""
