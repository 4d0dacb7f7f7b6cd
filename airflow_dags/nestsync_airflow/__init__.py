"""What the DAGs of nestsync are made of. Imports Airflow and the standard library, and nothing of nestsync."""
