"""The pages of a campaign: join, learn, label, rest, settle, watch.

``create_app(store, settings)`` gives the application, ``serve(settings, factory)`` runs it. Every
route is a line of :data:`evenhand.labelling.web.policy.ROUTES` with the roles that may use it;
what is not in it does not exist. Pages are made on the server and work without scripts.
"""
